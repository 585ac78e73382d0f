#include "engine/layer_budgets.h"

#include <cmath>
#include <string>

#include "vase/error.h"

namespace vase {
namespace {

void require(bool ok, const std::string& message) {
  if (!ok) throw Error(ErrorCode::kUsage, message);
}

}  // namespace

std::vector<int> budgets_of_layers(const CacheOptions& cache, int layers, int budget) {
  std::vector<int> budgets(layers, budget);
  if (cache.layer_budgets == LayerBudgets::kUniform) return budgets;
  const int keep = budget - cache.buffer;
  const int last = static_cast<int>(keep / static_cast<double>(cache.pyramid_beta));
  for (int layer = 0; layer < layers / 2; ++layer) {
    const double slope = (layers - 1 - 2.0 * layer) / (layers - 1);  // 1 in the first layer, 0 in the middle
    const int more = static_cast<int>(std::lround((keep - last) * slope));
    budgets[layer] += more;
    budgets[layers - 1 - layer] -= more;
  }
  return budgets;
}

int smallest_mean_budget(const Policy& policy, const CacheOptions& cache, int layers) {
  const int least = static_cast<int>(policy.smallest_budget(cache.buffer));
  if (cache.layer_budgets == LayerBudgets::kUniform || layers == 1) return least;
  int budget = cache.buffer + static_cast<int>((least - cache.buffer) * static_cast<double>(cache.pyramid_beta));
  while (budgets_of_layers(cache, layers, budget).back() < least) ++budget;  // one step, when beta is not whole
  return budget;
}

void check_layer_budgets(const Policy& policy, const CacheOptions& cache, int layers) {
  if (cache.layer_budgets == LayerBudgets::kUniform) return;
  require(cache.pyramid_beta >= 1 && cache.pyramid_beta <= 1000, "the pyramid's beta must be a number from 1 to 1000");
  require(cache.prefill == Prefill::kEvicting,
          "budgets that differ between layers need prefill = evict: a prompt that is "
          "stored whole takes the same slots in every layer");
  require(cache.trigger == Trigger::kGeneral, "budgets that differ between layers need the general trigger");
  require(policy.share == Share::kHead,
          "budgets that differ between layers need share=head: heads that share evict together");
  if (cache.budget_mib > 0) return;
  const int least = static_cast<int>(policy.smallest_budget(cache.buffer));
  const int last = budgets_of_layers(cache, layers, cache.budget).back();
  require(last >= least, "a budget of " + std::to_string(cache.budget) + " leaves " + std::to_string(last) +
                             " slots to the last layer of the pyramid, and '" + policy.text() + "' needs " +
                             std::to_string(least) + " there; the smallest budget that works here is " +
                             std::to_string(smallest_mean_budget(policy, cache, layers)));
}

}  // namespace vase
