// M of every layer.
#pragma once

#include <vector>

#include "vase/options.h"
#include "vase/policy.h"

namespace vase {

// [layers] slots that each layer holds right after an eviction; their sum is exactly layers x budget. With kPyramid
// they fall linearly (docs/policies.md 4.12.1) and are symmetric about the middle layer: what rounding adds to one
// layer, its mirror image lacks.
std::vector<int> budgets_of_layers(const CacheOptions& cache, int layers, int budget);

// The smallest budget at which every layer has what the policy needs there.
int smallest_mean_budget(const Policy& policy, const CacheOptions& cache, int layers);

// Throws Error(kUsage) when unequal budgets do not go with the other options, or when cache.budget, unless it is to be
// solved for, leaves the last layer less than the policy needs.
void check_layer_budgets(const Policy& policy, const CacheOptions& cache, int layers);

}  // namespace vase
