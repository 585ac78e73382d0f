// Special cases in which one policy must equal another.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/top_k/top_k.h"
#include "kernels/window_scores/window_scores.h"
#include "policies/test_head.h"

namespace vase {
namespace {

TEST(Limits, NoValueSlotsIsSamplingAlone) {
  const TestHead head({.candidates = 150});
  EXPECT_EQ(plan_of("vase-attnv protect=value:0 order=score", head.view),
            plan_of("score=attention select=sample order=score", head.view));
  EXPECT_EQ(plan_of("vase-attnv protect=sinks:4,value:4 order=score", head.view),
            plan_of("vase-attnv protect=sinks:4 order=score", head.view));
}

TEST(Limits, ValueSlotsUpToKAreTheTopByMagnitude) {
  const TestHead head({.candidates = 150});  // K = 64
  std::vector<uint32_t> pool = indices(150);
  kernels::top_k(head.value_range, head.positions, pool, 64, true);
  pool.resize(64);
  for (const char* rule : {"value:64", "value:100", "value:100%"}) {
    EXPECT_EQ(plan_of("vase-attnv protect=" + std::string(rule) + " order=score", head.view), pool) << rule;
  }
}

// Temperature 0 and equal queries put all mass on one candidate: it and its four neighbours have weight.
TEST(Limits, OneHotAttentionKeepsFiveAndDrawsTheRestUniformly) {
  TestHead head({.candidates = 100, .budget = 50, .group = 1});
  const int rows = head.view.attention_rows;
  std::vector<float> queries(rows * 32), one(32);
  PhiloxDraws({.seed = 3}).gaussian(false, one);
  for (int r = 0; r < rows; ++r) std::copy(one.begin(), one.end(), queries.begin() + r * 32);
  kernels::window_scores(queries, rows, head.view.keys, 1, 1e-6f, head.attention);
  const auto argmax = std::max_element(head.attention.begin(), head.attention.end()) - head.attention.begin();
  ASSERT_EQ(head.attention[argmax], static_cast<float>(rows));
  ASSERT_TRUE(argmax >= 2 && argmax < 98);

  const Policy policy = Policy::parse("score=attention select=sample");
  std::vector<int> kept_times(100);
  std::vector<uint32_t> kept(18);
  const int trials = 20000;
  for (int seed = 0; seed < trials; ++seed) {
    PhiloxDraws draws({.seed = static_cast<uint64_t>(seed)});
    PolicyScratch scratch;
    policy.plan(head.view, draws, scratch, kept);
    ASSERT_EQ(scratch.weightless_draws, 13u);
    for (uint32_t c : kept) ++kept_times[c];
  }
  const double p = 13 / 95.0, sigma = std::sqrt(trials * p * (1 - p));
  for (int c = 0; c < 100; ++c) {
    if (std::abs(c - argmax) <= 2) {
      EXPECT_EQ(kept_times[c], trials);
    } else {
      EXPECT_NEAR(kept_times[c], trials * p, 4.5 * sigma) << c;
    }
  }
}

std::vector<float> squared_norms(const RowsView& rows, int count) {
  std::vector<float> norms(count), row(rows.width);
  for (int c = 0; c < count; ++c) {
    read_row(rows, c, row.data());
    for (float x : row) norms[c] += x * x;
  }
  return norms;
}

TEST(Limits, LeverageWithoutSketchIsTheProductOfNorms) {
  for (RowType type : kRowTypes) {
    const TestHead head({.candidates = 150, .head_dim = 64, .type = type});
    std::vector<float> product = squared_norms(head.view.keys, 150);
    const std::vector<float> values = squared_norms(head.view.values, 150);
    for (int c = 0; c < 150; ++c) product[c] *= values[c];
    std::vector<uint32_t> pool = indices(150);
    kernels::top_k(product, head.positions, pool, 64, true);
    pool.resize(64);
    EXPECT_EQ(plan_of("score=leverage:sketch=off order=score", head.view), pool);
  }
}

// The sketch is unbiased: averaged over many, its ranking approaches that of the norms.
TEST(Limits, LargerSketchesComeCloserToTheNorms) {
  const TestHead head({.candidates = 150, .head_dim = 64});
  const auto exact = positions_of(plan_of("score=leverage:sketch=off", head.view), head.view);
  const auto shared = [&](const char* text) {
    int common = 0;
    for (uint32_t eviction = 0; eviction < 50; ++eviction) {
      for (int p : positions_of(plan_of(text, head.view, {.eviction = eviction}), head.view)) common += exact.count(p);
    }
    return common;
  };
  const int few = shared("score=leverage:sketch=2"), many = shared("score=leverage:sketch=64");
  EXPECT_GT(many, few);
  EXPECT_GT(many, 50 * 64 * 64 / 150);  // more than chance
}

}  // namespace
}  // namespace vase
