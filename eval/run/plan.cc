#include "eval/run/plan.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "eval/kl.h"
#include "eval/run/hash.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr const char* kAnyProblems = "jsonl";  // the task that is named after its file

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

// Ids differ within a task, and so do results.
void append_problems(Task& task, std::vector<Problem> problems) {
  std::set<std::string> taken;
  for (const Problem& problem : task.problems) taken.insert(problem.id);
  for (Problem& problem : problems) {
    const std::string id = problem.id;
    for (int n = 2; !taken.insert(problem.id).second; ++n) problem.id = id + " (" + std::to_string(n) + ")";
    task.problems.push_back(std::move(problem));
  }
}

bool is_there(const std::vector<std::string>& files, const std::string& file) {
  return std::ranges::any_of(files, [&](const std::string& other) {
    std::error_code unreadable;  // it has been read, so this is no concern
    return std::filesystem::equivalent(file, other, unreadable);
  });
}

}  // namespace

std::string Source::place_of(const Problem& problem) const {
  return (problem.where.empty() ? task.name : problem.where) + ", problem " + problem.id;
}

Source open_source(const std::string& text, int count, uint64_t seed, int most) {
  Source source{.task = open_task(text, count, seed, most), .reader = {}, .files = {}};
  if (is_procedural(text)) return source;
  const size_t equals = text.find('=');
  source.reader = text.substr(0, equals);
  source.files.push_back(text.substr(equals + 1));
  if (source.reader == kAnyProblems) source.task.name = std::filesystem::path(source.files[0]).stem();
  return source;
}

void add_source(std::vector<Source>& sources, Source source) {
  const auto same = std::ranges::find(sources, source.task.name, [](const Source& s) { return s.task.name; });
  if (same == sources.end()) {
    sources.push_back(std::move(source));
    return;
  }
  if (source.reader.empty() || source.reader == kAnyProblems || source.reader != same->reader) {
    throw Error(ErrorCode::kUsage,
                "two tasks have the name '" + source.task.name + "'; their results would be mixed up");
  }
  if (is_there(same->files, source.files[0])) {
    throw Error(ErrorCode::kUsage, "the task " + source.task.name + " is given " + source.files[0] +
                                       " twice; give each of its files once");
  }
  same->files.push_back(source.files[0]);
  append_problems(same->task, std::move(source.task.problems));
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
    int kept = 0;
    std::erase_if(source.task.problems, [&](const Problem& problem) {
      if (!wanted.empty() && !wanted.contains(problem.id)) return true;
      found.insert(problem.id);
      return most > 0 && kept++ >= most;
    });
  }
  for (const std::string& id : ids) {
    if (!found.contains(id))
      throw Error(ErrorCode::kUsage, "no task has a problem '" + id + "', which --ids names");
  }
  std::erase_if(sources, [](const Source& source) { return source.task.problems.empty(); });
}

}  // namespace vase::eval
