#include "eval/report/kl_lines.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "eval/number_text.h"
#include "eval/report/setting.h"
#include "eval/run/results_file.h"
#include "eval/statistics.h"
#include "vase/error.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

constexpr double kLargest = 1e6;  // nats; no distribution over tokens comes near it
constexpr const char* kForeign = "not a file that `vase eval kl --out` has written";

[[noreturn]] void fail(const ResultsLine& line, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, line.where + ": " + what);
}

template <typename T>
T field(const ResultsLine& line, const char* key) {
  try {
    return line.json.at(key).get<T>();
  } catch (const json::exception&) {
    const bool result = line.json.is_object() && line.json.contains("generated_tokens");
    fail(line, result ? "a result of `vase eval run`; give its folder instead"
                      : std::string("\"") + key + "\" is missing or of another kind; " + kForeign);
  }
}

double number(const ResultsLine& line, const char* key, double most) {
  const double value = field<double>(line, key);
  if (value >= 0 && value <= most) return value;
  fail(line, std::string("\"") + key + "\" is " + number_text("%g", value) + "; allowed: 0 to " +
                 number_text("%g", most));
}

// The chunk changes no number, so it tells nothing apart.
json settings_of(const json& line) {
  json settings = json::object();
  for (const char* key : {"parts", "files", "cache"}) {
    if (line.contains(key)) settings[key] = line[key];
  }
  return settings;
}

KlLine read_line(const ResultsLine& line) {
  return {.model = field<std::string>(line, "model"),
          .build = field<std::string>(line, "build"),
          .policy = field<std::string>(line, "policy"),
          .text = field<std::string>(line, "text"),
          .budget = static_cast<int>(number(line, "budget", 1 << 30)),
          .evict_seed = field<uint64_t>(line, "evict_seed"),
          .tokens = static_cast<int64_t>(number(line, "tokens", 1 << 30)),
          .positions = static_cast<int64_t>(number(line, "positions", 1 << 30)),
          .kl_mean = number(line, "kl_mean", kLargest),
          .kl_median = number(line, "kl_median", kLargest),
          .kl_p99 = number(line, "kl_p99", kLargest),
          .kl_max = number(line, "kl_max", kLargest),
          .same_top = number(line, "same_top", 1),
          .nll = number(line, "nll", kLargest),
          .nll_full = number(line, "nll_full", kLargest),
          .settings = settings_of(line.json)};
}

// Over texts of the mean of each one's seeds.
double mean_of_means(const std::map<std::string, std::vector<double>>& texts) {
  std::vector<double> means;
  for (const auto& [name, values] : texts) means.push_back(mean(values));
  return mean(means);
}

KlSums sums_of(const KlLine& line) {
  const auto n = static_cast<double>(line.positions), next = n - 1;  // the last position has no next token
  return {.kl = n * line.kl_mean,
          .same_top = n * line.same_top,
          .nll = next * line.nll,
          .full_nll = next * line.nll_full,
          .positions = n,
          .predicted = next};
}

KlSummary summarise_lines(const std::vector<const KlLine*>& lines) {
  std::map<std::string, KlSums> texts;
  std::map<std::string, std::vector<double>> medians, p99s;
  double most = 0;
  for (const KlLine* line : lines) {
    if (line->positions == 0) continue;
    texts[line->text] += sums_of(*line);
    medians[line->text].push_back(line->kl_median);
    p99s[line->text].push_back(line->kl_p99);
    most = std::max(most, line->kl_max);
  }
  KlSummary s = summarise(texts);
  s.median = mean_of_means(medians);
  s.p99 = mean_of_means(p99s);
  s.max = most;
  return s;
}

// The policy, and where its settings differ from those of its other rows on this model. Lines of older versions have none.
std::string label_of(const KlFileRow& row, const std::vector<KlFileRow>& rows) {
  std::string label = row.policy;
  std::set<std::string> places;
  for (const KlFileRow& other : rows) {
    if (other.model != row.model || other.policy != row.policy || other.settings.empty()) continue;
    if (row.settings.empty()) return label + " · settings unknown";
    for (const json& one : json::diff(row.settings, other.settings)) places.insert(one["path"]);
  }
  for (const std::string& place : places) {
    label += (label == row.policy ? " · " : ", ") + place.substr(place.rfind('/') + 1) + " " +
             setting(row.settings, place);
  }
  return label;
}

}  // namespace

KlFile read_kl_file(const std::string& path) {
  KlFile file{.name = path, .lines = {}};
  const uint64_t whole = read_results(
      path, [&](const ResultsLine& line) { file.lines.push_back(read_line(line)); }, kForeign);
  if (file.lines.empty()) throw Error(ErrorCode::kCorrupt, path + " holds no line of `vase eval kl --out`");
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  file.torn = !error && bytes != whole;  // a pipe has no size
  return file;
}

std::vector<KlFileRow> kl_rows(const KlFile& file) {
  std::vector<KlFileRow> rows;
  std::vector<std::vector<const KlLine*>> own;
  for (const KlLine& line : file.lines) {
    const auto same = std::ranges::find_if(rows, [&](const KlFileRow& row) {
      return row.model == line.model && row.policy == line.policy && row.budget == line.budget &&
             row.settings == line.settings;
    });
    const auto index = static_cast<size_t>(same - rows.begin());
    if (same == rows.end()) {
      rows.push_back({.model = line.model,
                      .policy = line.policy,
                      .budget = line.budget,
                      .settings = line.settings,
                      .label = "",
                      .summary = {}});
      own.emplace_back();
    }
    own[index].push_back(&line);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    std::set<uint64_t> seeds;
    for (const KlLine* line : own[i]) seeds.insert(line->evict_seed);
    rows[i].seeds = seeds.size();
    rows[i].summary = summarise_lines(own[i]);
    rows[i].label = label_of(rows[i], rows);
  }
  return rows;
}

std::optional<double> noise_floor(std::span<const KlFileRow> rows, const std::string& model) {
  std::optional<double> floor;
  for (const KlFileRow& row : rows) {
    if (row.budget == 0 && row.model == model) floor = std::max(floor.value_or(0), row.summary.kl);
  }
  return floor;
}

json kl_file_json(const KlFile& file) {
  json rows = json::array();
  for (const KlFileRow& row : kl_rows(file)) {
    rows.push_back(summary_json(row.summary));
    rows.back().update(
        {{"model", row.model}, {"policy", row.policy}, {"budget", row.budget}, {"seeds", row.seeds}});
    rows.back().update(row.settings);
  }
  return {{"file", file.name}, {"torn", file.torn}, {"rows", rows}};
}

}  // namespace vase::eval::report
