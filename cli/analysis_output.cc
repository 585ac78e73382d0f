#include "analysis_output.h"

#include "json_output.h"

namespace vase::cli {
namespace {

using eval::report::Document;

std::string tables_of(const Document& document) {
  std::string text;
  for (const auto& section : document.sections) {
    for (const auto& block : section.blocks) {
      if (const auto* table = std::get_if<eval::report::Table>(&block)) text += eval::report::markdown_table(*table);
    }
  }
  return text;
}

}  // namespace

void AnalysisOutput::add_flags(CLI::App& app) {
  app.add_flag("--json", json_, "print JSON");
  add_path(app, "--page", page_, "tables and figures as one HTML file that needs no other");
}

void AnalysisOutput::open(const std::vector<std::pair<std::string, std::string>>& inputs) {
  refuse_overwriting("--page", page_, inputs);
  if (!page_.empty()) file_.emplace(page_);
}

std::string AnalysisOutput::foot(const std::string& command) {
  return "Made by vase " + std::string(build_id()) + " with vase " + command + ".";
}

// Prints first: a file that cannot be written must not take what was measured with it.
void AnalysisOutput::write(const std::function<Document()>& document,
                           const std::function<nlohmann::json()>& json) {
  if (json_) print_json(json(), 2);
  if (json_ && !file_) return;
  const Document made = document();
  if (!json_) write_output(tables_of(made));
  if (!file_) return;
  file_->write(eval::report::html_page(made));
  file_->commit();
}

}  // namespace vase::cli
