#include "text_flags.h"

#include "output.h"

namespace vase::cli {

void TextFlags::add(CLI::App& app) {
  add_repeatable(app, "--text", paths, "a text file, or recorded generations (.json, .jsonl); repeatable");
  app.get_option("--text")->required();
  add_integer(app, "--tokens", most_tokens, 2, 1 << 20,
              "most tokens of a text, its prompt not counted (1024)");
  add_integer(app, "--texts", most_texts, 1, 1 << 20,
              "most texts of each file with records; all when absent");
}

void TextFlags::refuse_twice() const {
  std::vector<std::pair<std::string, std::string>> taken;
  for (const std::string& path : paths) {
    refuse_overwriting("--text", path, taken);
    taken.emplace_back("--text " + path, path);
  }
}

std::vector<std::pair<std::string, std::string>> TextFlags::inputs(const std::string& model) const {
  std::vector<std::pair<std::string, std::string>> files = {{"--model", model}};
  for (const std::string& path : paths) files.emplace_back("--text", path);
  return files;
}

std::vector<eval::Text> TextFlags::read(const Model& model) const {
  std::vector<eval::Text> texts;
  for (const std::string& path : paths) {
    for (eval::Text& text : eval::read_texts(model, path, most_tokens, most_texts))
      texts.push_back(std::move(text));
  }
  eval::make_names_differ(texts);
  return texts;
}

}  // namespace vase::cli
