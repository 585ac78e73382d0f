// Chances of a weighted draw, against doubles.
#include "kernels/weighted_draw/inclusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/on_every_target.h"

namespace vase::kernels {
namespace {

double chance(float weight, double log_time) { return -std::expm1(-weight * std::exp(log_time)); }

TEST(Inclusion, AddsUpToTheCountWhateverTheWeights) {
  for (int count : {1, 5, 50, 98, 99}) {
    for (float spread : {0.0f, 1.0f, 30.0f, 80.0f}) {
      std::vector<float> weights(100);
      for (int c = 0; c < 100; ++c) weights[c] = std::exp(spread * (static_cast<float>(c) / 50 - 1));
      on_every_target([&] {
        const double log_time = log_inclusion_time(weights, count);
        double sum = 0;
        for (float w : weights) sum += chance(w, log_time);
        EXPECT_NEAR(sum, count, 2e-7 * count) << count << " " << spread;
      });
    }
  }
}

TEST(Inclusion, CostsAreLogarithmsOfChances) {
  for (int count : {1, 3, 7, 8, 9, 1000}) {
    for (double log_time : {-100.0, -3.0, 0.0, 2.0, 20.0}) {
      std::vector<float> weights(count);
      for (int c = 0; c < count; ++c)
        weights[c] = std::exp(20 * (static_cast<float>(c) / static_cast<float>(count) - 0.5f));
      on_every_target([&] {
        std::vector<float> costs = weights;
        inclusion_costs(log_time, costs);
        for (int c = 0; c < count; ++c) {
          const double want = -std::log1p(-std::exp(-weights[c] * std::exp(log_time)));
          const double exact = weights[c] * std::exp(log_time) < 1 ? -std::log(chance(weights[c], log_time)) : want;
          ASSERT_NEAR(costs[c], exact, 7e-8 * exact + 1e-9 * std::min(exact, 1.0) + 3e-16)
              << weights[c] << " " << log_time;
        }
      });
    }
  }
}

}  // namespace
}  // namespace vase::kernels
