// What a benchmark times: every combination of the lists that it is given, in groups whose members take
// turns.
#pragma once

#include <string>
#include <vector>

#include "model/weights.h"
#include "vase/options.h"

namespace vase::bench {

struct Test {
  bool prompt = false;  // prompt processing, or generation
  int tokens = 0;       // per sequence

  // "pp512" or "tg128".
  std::string name() const;
};

// One row of the report.
struct Case {
  Test test;
  int depth = 0;        // tokens that every sequence has seen when the timed piece begins
  int batch = 1;        // sequences
  int threads = 0;      // 0 = one per physical core
  int chunk = 0;        // prompt tokens per step
  std::string name;     // of the policy, as given
  std::string policy;   // its canonical text
  std::string kv_type;  // as given, "f16" or "f16,f32"
  model::WeightLayout layout = model::WeightLayout::kOwn;  // decides whose matrix products run
  CacheOptions cache;   // with this case's budget and types
};

struct KvType {
  std::string name;
  RowType key = RowType::kF16, value = RowType::kF16;
};

// As people write it, and all of it.
struct NamedPolicy {
  std::string name, text;
};

struct Grid {
  std::vector<Test> tests;
  std::vector<int> depths = {0}, batches = {1}, threads = {0}, budgets = {1024};
  std::vector<KvType> kv_types = {{"f16"}};
  std::vector<NamedPolicy> policies;
  std::vector<model::WeightLayout> layouts = {model::WeightLayout::kOwn};
  std::vector<int> chunks = {EngineOptions().chunk};
  CacheOptions cache;  // everything but budget and types
};

// Cases alike in all but policy, budget, matrix products and chunk, by test: they share the peer, and are timed in
// turns.
struct Group {
  std::vector<Test> tests;
  std::vector<Case> cases;  // without a test

  const Case& common() const { return cases.front(); }
};

// Threads vary slowest, then KV types, depths, batches, policies, budgets, layouts and chunks. A policy that has no
// budget comes once, not once per budget. Throws Error(kUsage) for a policy that does not parse.
std::vector<Group> groups_of(const Grid& grid);

}  // namespace vase::bench
