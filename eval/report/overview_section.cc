#include "eval/report/names.h"
#include "eval/report/sections.h"
#include "eval/report/setting.h"

namespace vase::eval::report {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

std::string about_set(const ResultSet& set) {
  const std::string there = std::to_string(set.results.size()), asked = std::to_string(set.expected());
  if (set.complete()) return set.name + ": complete, " + there + " texts.";
  return set.name + " is NOT FINISHED: " + there + " of " + asked +
         " texts are there. Its numbers are about these alone and will change; policies that were run first "
         "have more of them.";
}

std::string about_file(const KlFile& file) {
  std::string text =
      file.name + ": " + std::to_string(file.lines.size()) + " lines of divergence from the full cache.";
  if (file.torn) text += " Its last line is not whole and was left out: something has cut the file off.";
  return text;
}

}  // namespace

Section overview_section(const Material& material) {
  Section section{"What is here", {}};
  for (const ResultSet& set : material.input.sets) section.blocks.push_back(about_set(set));
  for (const KlFile& file : material.input.kl) section.blocks.push_back(about_file(file));
  const std::vector<std::string> models = model_titles(material);
  section.blocks.push_back((models.size() == 1 ? "Model: "
                                               : "These are results of " + std::to_string(models.size()) +
                                                     " models, which figures keep apart: ") +
                           joined(models) + ".");
  section.blocks.push_back(
      std::string("A result holds for its model, its problems and its settings, which stand in the last "
                  "section. What small models lose at a budget does not tell what large ones lose."));
  return section;
}

}  // namespace vase::eval::report
