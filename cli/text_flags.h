// The flags that name texts to force through a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/texts.h"
#include "flags.h"

namespace vase::cli {

struct TextFlags {
  std::vector<std::string> paths;
  int most_tokens = 1024;  // of a text, its prompt not counted
  int most_texts = 0;      // of each file; 0 = all

  void add(CLI::App& app);
  // A file that is given twice would count as two texts. Throws Error(kUsage).
  void refuse_twice() const;
  // The model and these files with their flags, for what must not replace them.
  std::vector<std::pair<std::string, std::string>> inputs(const std::string& model) const;
  // Throws Error as eval::read_texts().
  std::vector<eval::Text> read(const Model& model) const;
};

}  // namespace vase::cli
