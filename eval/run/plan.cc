#include "eval/run/plan.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "eval/kl.h"
#include "eval/run/hash.h"
#include "eval/tasks/records.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

Planned planned(const RunPlan& plan, const Cell& cell, const Task& task, const Problem& problem, int run,
                int sample) {
  return {.item = {.task = task.name,
                   .problem_id = problem.id,
                   .policy = cell.name,
                   .budget = cell.budget,
                   .run = run,
                   .sample = sample,
                   .seed = derived_seed(plan.seed, "text", task.name, problem.id, sample),
                   .evict_seed = derived_seed(plan.evict_seed + static_cast<uint64_t>(run), "evictions",
                                              task.name, problem.id, sample)},
          .task = &task,
          .problem = &problem};
}

// "data.jsonl:12" of a record; the path alone when the file no longer has it.
std::string place_in_file(const std::string& path, size_t number) {
  std::string place = path;
  read_records(path, [&](const Record& record) {
    if (record.number == number) place = record.where;
  });
  return place;
}

// Leaves out the problems for which `wanted` is false.
template <typename Wanted>
void keep(Source& source, Wanted wanted) {
  size_t kept = 0;
  for (size_t i = 0; i < source.numbers.size(); ++i) {
    if (!wanted(source.task.problems[i], kept)) continue;
    if (kept != i) source.task.problems[kept] = std::move(source.task.problems[i]);
    source.numbers[kept++] = source.numbers[i];
  }
  source.task.problems.resize(kept);
  source.numbers.resize(kept);
}

}  // namespace

std::string Source::place_of(const Problem& problem) const {
  const auto index = static_cast<size_t>(&problem - task.problems.data());
  return (path.empty() ? task.name : place_in_file(path, numbers.at(index))) + ", problem " + problem.id;
}

Source open_source(const std::string& text, int count, uint64_t seed, int most) {
  Source source{.task = open_task(text, count, seed, most), .path = {}, .numbers = {}};
  if (!is_procedural(text)) source.path = text.substr(text.find('=') + 1);
  if (source.task.name == "jsonl") source.task.name = std::filesystem::path(source.path).stem();
  source.numbers.resize(source.task.problems.size());
  std::iota(source.numbers.begin(), source.numbers.end(), size_t{0});
  return source;
}

std::vector<Planned> items_of(const RunPlan& plan, const Cell& cell) {
  std::vector<Planned> items;
  for (int sample = 0; sample < plan.samples; ++sample) {
    for (int run = 0; run < seeds_of(cell.policy, plan.seeds); ++run) {
      int turn = 0;
      for (const Source& source : plan.sources) {
        for (const Problem& problem : source.task.problems) {
          if (turn++ % plan.shards != plan.shard) continue;
          items.push_back(planned(plan, cell, source.task, problem, run, sample));
        }
      }
    }
  }
  return items;
}

int64_t count_items(const RunPlan& plan) {
  int64_t problems = 0, texts = 0;
  for (const Source& source : plan.sources) problems += static_cast<int64_t>(source.task.problems.size());
  for (const Cell& cell : plan.cells) texts += int64_t(plan.samples) * seeds_of(cell.policy, plan.seeds);
  return problems * texts;
}

void select_problems(std::vector<Source>& sources, std::span<const std::string> ids, int most) {
  const std::set<std::string> wanted(ids.begin(), ids.end());
  std::set<std::string> found;
  for (Source& source : sources) {
    keep(source, [&](const Problem& problem, size_t kept) {
      if (!wanted.empty() && !wanted.contains(problem.id)) return false;
      found.insert(problem.id);
      return most == 0 || kept < static_cast<size_t>(most);
    });
  }
  for (const std::string& id : ids) {
    if (!found.contains(id))
      throw Error(ErrorCode::kUsage, "no task has a problem '" + id + "', which --ids names");
  }
  std::erase_if(sources, [](const Source& source) { return source.task.problems.empty(); });
}

}  // namespace vase::eval
