#include "eval/run/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "eval/run/folder_results.h"
#include "eval/run/results_file.h"
#include "eval/statistics.h"

namespace vase::eval {
namespace {

using nlohmann::json;
using Results = std::vector<const Result*>;

constexpr const char* kFull = "full";
constexpr int kDraws = 10000;  // of the bootstrap

template <typename Value>
double mean_of(const Results& results, Value value) {
  double sum = 0;
  for (const Result* r : results) sum += static_cast<double>(value(*r));
  return results.empty() ? 0 : sum / static_cast<double>(results.size());
}

// Mean over its texts, of each problem.
template <typename Value>
std::vector<double> by_problem(const Results& results, Value value) {
  std::map<std::string, Results> problems;
  for (const Result* r : results) problems[r->item.problem_id].push_back(r);
  std::vector<double> means;
  for (const auto& [id, own] : problems) means.push_back(mean_of(own, value));
  return means;
}

bool is_right(const Result& r) { return r.right; }
int64_t length(const Result& r) { return int64_t(r.prompt_tokens) + r.generated_tokens; }

using Groups = std::map<int, std::vector<double>>;

// Of the values around the mean of their group; empty where no group has two.
std::optional<double> deviation_within(const Groups& groups) {
  double squares = 0;
  size_t freedom = 0;
  for (const auto& [key, values] : groups) {
    const double centre = mean(values);
    for (const double value : values) squares += (value - centre) * (value - centre);
    freedom += values.size() - 1;
  }
  if (freedom == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(freedom));
}

// A run that has not come to all problems yet has no share of its own.
void add_runs(SummaryRow& row, const Results& results) {
  std::map<std::pair<int, int>, Results> runs;
  for (const Result* r : results) runs[{r->item.run, r->item.sample}].push_back(r);
  std::vector<double> shares;
  Groups by_seed, by_sample;
  for (const auto& [run, own] : runs) {
    if (own.size() != static_cast<size_t>(row.problems)) continue;
    shares.push_back(mean_of(own, is_right));
    by_seed[run.first].push_back(shares.back());
    by_sample[run.second].push_back(shares.back());
  }
  row.runs = static_cast<int>(shares.size());
  if (shares.empty()) return;
  row.evict_seed_deviation = deviation_within(by_sample);
  row.sample_deviation = deviation_within(by_seed);
  std::tie(row.lowest, row.highest) = std::pair(std::ranges::min(shares), std::ranges::max(shares));
}

SummaryRow summarise_cell(const Results& results) {
  SummaryRow row{.set = {},
                 .task = results[0]->item.task,
                 .policy = results[0]->item.policy,
                 .budget = results[0]->item.budget};
  const std::vector<double> right = by_problem(results, is_right);
  const auto labelled = [](const char* name) { return [name](const Result& r) { return r.label == name; }; };
  row.problems = static_cast<int>(right.size());
  row.items = static_cast<int64_t>(results.size());
  row.pass = mean(right);
  row.pass_error = standard_error(right);
  row.strict = mean(by_problem(results, [](const Result& r) { return r.right && r.ended(); }));
  row.unjudged = std::ranges::count_if(results, [](const Result* r) { return !r->judged; });
  row.garbage = mean_of(results, labelled("garbage"));
  row.loop = mean_of(results, labelled("loop"));
  row.truncated = mean_of(results, labelled("truncated"));
  row.no_answer = mean_of(results, [](const Result& r) { return !r.extracted; });
  row.mean_tokens = mean_of(results, [](const Result& r) { return r.generated_tokens; });
  row.prompt_tokens = mean_of(results, [](const Result& r) { return r.prompt_tokens; });
  for (const Result* r : results) {
    row.most_tokens = std::max(row.most_tokens, r->generated_tokens);
    row.kv_bytes = std::max(row.kv_bytes, r->kv_bytes);
  }
  const double seconds = busy_seconds(results);
  if (seconds > 0) row.tokens_per_s = row.mean_tokens * static_cast<double>(row.items) / seconds;
  add_runs(row, results);
  return row;
}

double kept_share(int budget, double length) {
  return budget > 0 && length > budget ? static_cast<double>(budget) / length : 1;
}

// "server", when another program generated.
bool by_server(const json& config) {
  const json server = config.value("server", json());
  return server.is_string() && !server.get_ref<const std::string&>().empty();
}

json instruction_of(const json& config, const std::string& task) {
  for (const json& one : config["tasks"]) {
    if (one["name"] == task) return one.value("instruction", json());
  }
  return nullptr;
}

// Most tokens of prompt and text together.
json context_of(const json& config) { return config.value(json::json_pointer("/cache/context"), json()); }

// Whether a difference between two folders can be the policies' doing: the same model was asked in the same
// way, and its answers were read by the same grader. Another program has its own name for the model and its
// own limit of the context. Whether the problems are the same is seen one by one.
bool comparable(const json& a, const json& b, const std::string& task) {
  const auto alike = [&](const char* key) { return a.value(key, json()) == b.value(key, json()); };
  const bool other_program = by_server(a) || by_server(b);
  return (other_program || (alike("model") && context_of(a) == context_of(b))) && alike("sampling") &&
         alike("seed") && alike("max_tokens") && alike("stops") && alike("stop_loops") && alike("system") &&
         alike("raw") && alike("grader") && instruction_of(a, task) == instruction_of(b, task);
}

// The same problem and sample, whatever the eviction seed. A problem of another folder that has the same id
// and another answer is another problem.
std::optional<Paired> compare(const Results& results, const Results& full) {
  std::map<std::pair<std::string, int>, const Result*> others;
  for (const Result* r : full) others[{r->item.problem_id, r->item.sample}] = r;
  std::map<std::string, std::vector<double>> differences;
  std::vector<double> ratios, lengths;
  for (const Result* r : results) {
    const auto other = others.find({r->item.problem_id, r->item.sample});
    if (other == others.end() || other->second->expected != r->expected) continue;
    differences[r->item.problem_id].push_back(double(r->right) - double(other->second->right));
    lengths.push_back(static_cast<double>(length(*other->second)));
    ratios.push_back(kept_share(r->item.budget, lengths.back()));
  }
  if (differences.empty()) return std::nullopt;
  std::vector<double> problems;
  for (const auto& [id, list] : differences) problems.push_back(mean(list));
  return Paired{.problems = static_cast<int>(problems.size()),
                .difference = mean(problems),
                .interval = bootstrap_interval(problems, kDraws, 0),
                .p = sign_test(problems),
                .mean_ratio = kept_share(results[0]->item.budget, mean(lengths)),
                .item_ratio = mean(ratios)};
}

// The results of one set by task, policy and budget, in the order of its configuration.
std::vector<Results> cells_of(const ResultSet& set) {
  std::map<std::tuple<std::string, std::string, int>, Results> cells;
  for (const Result& r : set.results) cells[{r.item.task, r.item.policy, r.item.budget}].push_back(&r);
  std::vector<Results> list;
  for (const json& task : set.config["config"]["tasks"]) {
    for (const json& cell : set.config["config"]["cells"]) {
      const auto found = cells.find({task["name"], cell["policy"], cell["budget"]});
      if (found != cells.end()) list.push_back(std::move(found->second));
    }
  }
  return list;
}

bool is_full(const Results& cell) { return cell[0]->item.policy == kFull; }

}  // namespace

int64_t ResultSet::expected() const { return config["items"].get<int64_t>(); }

ResultSet read_result_set(const std::string& folder) {
  ResultSet set{.name = folder, .config = read_config(folder), .results = {}};
  FolderResults results(set.config);
  results.read(folder + "/" + kResultsName);
  set.results = results.list();
  return set;
}

double busy_seconds(std::span<const Result* const> results) {
  std::map<std::string, std::vector<std::pair<double, double>>> processes;
  for (const Result* r : results)
    processes[r->timing.process].emplace_back(r->timing.start, r->timing.start + r->timing.seconds);
  double sum = 0;
  for (auto& [process, spans] : processes) {
    std::ranges::sort(spans);
    double until = spans[0].first;
    for (const auto& [start, end] : spans) {
      sum += std::max(0.0, end - std::max(start, until));
      until = std::max(until, end);
    }
  }
  return sum;
}

std::vector<SummaryRow> summarise(std::span<const ResultSet> sets) {
  std::vector<std::vector<Results>> all;
  for (const ResultSet& set : sets) all.push_back(cells_of(set));
  const auto full_of = [&](size_t own, const std::string& task) -> const Results* {
    const auto in = [&](size_t set) -> const Results* {
      const auto found = std::ranges::find_if(
          all[set], [&](const Results& c) { return is_full(c) && c[0]->item.task == task; });
      return found == all[set].end() ? nullptr : &*found;
    };
    if (const Results* full = in(own)) return full;
    for (size_t set = 0; set < all.size(); ++set) {
      const Results* full = in(set);
      if (full && comparable(sets[own].config["config"], sets[set].config["config"], task)) return full;
    }
    return nullptr;
  };
  std::vector<SummaryRow> rows;
  for (size_t set = 0; set < all.size(); ++set) {
    for (const Results& cell : all[set]) {
      rows.push_back(summarise_cell(cell));
      rows.back().set = sets[set].name;
      if (const Results* full = full_of(set, cell[0]->item.task); full && full != &cell)
        rows.back().paired = compare(cell, *full);
    }
  }
  return rows;
}

}  // namespace vase::eval
