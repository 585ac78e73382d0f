// What `vase select` tells: for people, as JSON, as arrays.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arrays/head_arrays.h"
#include "eval/retention.h"
#include "vase/policy.h"
#include "vase/select.h"

namespace vase::cli {

// What all heads have in common.
struct SelectSetup {
  Policy policy;
  int budget = 0, buffer = 0, prompt_tokens = 0;
  uint64_t seed = 0;
  int layer = 0;
  uint32_t eviction = 0;
};

struct SelectResult {
  const HeadArrays* arrays = nullptr;
  SelectSetup setup;
  std::vector<Selection> heads;               // [S * H]
  std::vector<eval::Retention> retention;     // [S]

  const Selection& head(size_t sequence, size_t kv_head) const {
    return heads[sequence * arrays->kv_heads() + kv_head];
  }
};

// Applies the policy to every head and measures what they hold together. Throws Error before anything has run.
SelectResult select_heads(const HeadArrays& arrays, const SelectSetup& setup, const Rope& rope);

std::string select_table(const SelectResult& result);
nlohmann::json select_json(const SelectResult& result);
std::string kept_npy(const SelectResult& result);  // int64 [heads][M]
// kept, positions (int64 [heads][M]), scores (f32 [heads][C]), protected (bool [heads][C]), and log_weight (f32
// [heads][M]) when the policy sets it.
std::string select_npz(const SelectResult& result);

// The numbers of eval::Retention; null where there is nothing to measure.
nlohmann::json retention_json(const eval::Retention& r);

}  // namespace vase::cli
