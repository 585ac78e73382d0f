#include "eval/report/names.h"

#include <algorithm>

#include "eval/report/setting.h"

namespace vase::eval::report {

std::string model_title(const Material& material, const std::string& fingerprint) {
  for (const ResultSet& set : material.input.sets) {
    if (is_server(set) || setting(set, "model") != fingerprint) continue;
    return setting(set, "model_name") + " (" + fingerprint + ")";
  }
  return "model " + fingerprint;
}

std::vector<std::string> model_titles(const Material& material) {
  std::vector<std::string> titles;
  const auto add = [&](const std::string& title) {
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(title);
  };
  for (const ResultSet& set : material.input.sets) {
    add(is_server(set) ? setting(set, "model") + " at " + server_of(set)
                       : model_title(material, setting(set, "model")));
  }
  for (const auto& rows : material.kl) {
    for (const KlFileRow& row : rows) add(model_title(material, row.model));
  }
  return titles;
}

}  // namespace vase::eval::report
