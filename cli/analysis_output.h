// What the commands of `vase analyze` give out: tables or JSON, and a page with figures.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/report/document.h"
#include "flags.h"
#include "output.h"

namespace vase::cli {

class AnalysisOutput {
 public:
  // --json and --page.
  void add_flags(CLI::App& app);
  // Makes the page's file before the work begins. inputs: flags and files that it must not replace. Throws as
  // OutputFile and refuse_overwriting().
  void open(const std::vector<std::pair<std::string, std::string>>& inputs);
  // The last line of a page that `command` makes.
  static std::string foot(const std::string& command);
  // json: what to print in place of the document's tables, when that was asked for. Each is made if it is wanted.
  void write(const std::function<eval::report::Document()>& document, const std::function<nlohmann::json()>& json);

 private:
  bool json_ = false;
  std::string page_;
  std::optional<OutputFile> file_;
};

}  // namespace vase::cli
