// What a run of `vase eval run` generates: problems x samples, for every policy at every budget.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/run/record.h"
#include "eval/tasks/task.h"
#include "vase/engine.h"

namespace vase::eval {

// One policy at one budget: one engine.
struct Cell {
  std::string name;  // the policy, as the user wrote it
  Policy policy;
  int budget = 0;  // M; 0 for a policy that keeps and reads everything, and for a server

  // With megabytes in place of M: what they are, and what they buy, which is set when the prompts are known.
  struct Bought {
    double mib = 0;
    RowType key_type = RowType::kF16, value_type = RowType::kF16;
  };
  std::optional<Bought> bought = {};
};

// A task and where it is from.
struct Source {
  Task task;
  std::string reader;              // of its files: "gsm8k", "jsonl", ...; empty for a procedural task
  std::vector<std::string> files;  // paths; empty for a procedural task

  // "gsm8k.jsonl:12, problem gsm8k-11": where a problem stands, for messages.
  std::string place_of(const Problem& problem) const;
};

// Opens what --task names (open_task() of eval/tasks/task.h). A JSONL file of no task in particular is called
// by its name without folder and extension. Throws Error as open_task().
Source open_source(const std::string& text, int count, uint64_t seed, int most = 0);

// Adds it to the others. Another file of a data set that is there becomes a part of that task, behind its problems: an
// id that these have is called "7 (2)". Throws Error(kUsage) for a file that is there already, and for the name of
// another task: files of no task in particular are never parts of each other.
void add_source(std::vector<Source>& sources, Source source);

struct RunPlan {
  std::vector<Source> sources;
  std::vector<Cell> cells;
  int samples = 1;            // texts per problem
  int seeds = 1;              // eviction seeds; of a policy that does not evict always one
  uint64_t seed = 0;          // of the texts
  uint64_t evict_seed = 0;    // the first of the eviction seeds; the others follow it
  int shard = 0, shards = 1;  // of every `shards` problems the one whose turn is `shard`, counted from 0
};

// One generation to be made. Points into the plan.
struct Planned {
  Item item;
  const Task* task = nullptr;
  const Problem* problem = nullptr;

  // What the user says: the problem and the task's instruction.
  std::string prompt() const { return problem->problem + task->instruction; }
};

// All generations of a cell, of all shards or of the plan's own; first every problem once, then again: so
// what is there after an interrupt is as evenly spread as it can be.
std::vector<Planned> items_of(const RunPlan& plan, const Cell& cell);

// Generations that the whole plan asks for, all shards together.
int64_t count_items(const RunPlan& plan);

// Keeps the problems whose id is on the list, and of each task the first `most` of these; an empty list and 0
// keep all. Throws Error(kUsage) for an id that no task has.
void select_problems(std::vector<Source>& sources, std::span<const std::string> ids, int most);

}  // namespace vase::eval
