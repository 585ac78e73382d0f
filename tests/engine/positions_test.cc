// Positions of the cache (StreamingLLM, arXiv 2309.17453) against the original rule written out: keys are kept as they
// were before RoPE, and every step rotates each by its index in the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/attention_driver.h"
#include "kernels/rotation/rotation.h"
#include "model/rope.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase {
namespace {

using test::TinyModel;
using test::TinyOptions;

constexpr int kSinks = 4;

std::vector<float> turned(const Rope& rope, std::vector<float> row, double positions) {
  std::vector<float> turn(2 * rope.frequencies.size());
  kernels::rotation_for(rope, positions, turn);
  kernels::rotate_row(rope, turn, row);
  return row;
}

// One token per step; keeps the first 4 and the newest M - 4 whenever M + period are held.
class CacheIndexAttention final : public model::LayerAttention {
 public:
  CacheIndexAttention(const model::HParams& h, const Rope& rope, int budget, int period)
      : h_(h), rope_(rope), budget_(budget), period_(period), heads_(size_t(h.layers) * h.kv_heads) {}

  void attend(const model::LayerInputs& in) noexcept override {
    for (int kv = 0; kv < h_.kv_heads && in.ith == 0; ++kv) {
      Head& head = heads_[size_t(in.layer) * h_.kv_heads + kv];
      const auto row = [&](const float* x) {
        return std::vector<float>(x + kv * h_.head_dim, x + (kv + 1) * h_.head_dim);
      };
      head.keys.push_back(turned(rope_, row(in.k), -double(head.seen)));
      head.values.push_back(row(in.v));
      for (int g = 0; g < h_.group(); ++g) attend_one(head, in, kv * h_.group() + g);
      ++head.seen;
      if (static_cast<int>(head.keys.size()) < budget_ + period_) continue;
      head.keys.erase(head.keys.begin() + kSinks, head.keys.begin() + kSinks + period_);
      head.values.erase(head.values.begin() + kSinks, head.values.begin() + kSinks + period_);
    }
  }

 private:
  struct Head {
    std::vector<std::vector<float>> keys, values;  // keys before RoPE
    int64_t seen = 0;
  };

  void attend_one(const Head& head, const model::LayerInputs& in, int query_head) const {
    const int d = h_.head_dim, n = static_cast<int>(head.keys.size());
    const std::vector<float> given(in.q + query_head * d, in.q + (query_head + 1) * d);
    const auto q = turned(rope_, turned(rope_, given, -double(head.seen)), n - 1);  // its index in the cache
    std::vector<double> p(n);
    for (int s = 0; s < n; ++s) {
      const auto k = turned(rope_, head.keys[s], s);
      p[s] = std::exp(std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / std::sqrt(double(d)));
    }
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (int c = 0; c < d; ++c) {
      double value = 0;
      for (int s = 0; s < n; ++s) value += p[s] / sum * head.values[s][c];
      in.out[query_head * d + c] = static_cast<float>(value);
    }
  }

  model::HParams h_;
  Rope rope_;
  int budget_, period_;
  std::vector<Head> heads_;  // [layer][kv_head]
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double(a[i]) - b[i]));
  return largest;
}

std::vector<float> engine_logits(const TinyModel& file, const CacheOptions& cache, std::span<const int32_t> text) {
  Engine engine(Model::load(file.path()), Policy::parse("streaming"), cache, {.threads = 2, .logit_rows = 16});
  std::vector<float> all;
  engine.force(text, 1, {},
               [&](int64_t, std::span<const float> row) { all.insert(all.end(), row.begin(), row.end()); });
  return all;
}

TEST(CachePositions, EqualTheOriginalRule) {
  const auto text = test::tiny_text(160);
  for (const char* family : {"llama", "qwen2"}) {
    for (const int period : {1, 9, 30}) {
      SCOPED_TRACE(std::string(family) + ", period " + std::to_string(period));
      const TinyModel file{TinyOptions{.family = family, .head_dim = 32, .rope_factors = family[0] == 'l'}};
      const auto weights = model::Weights::load(file.path());
      const model::RopeTable rope = model::rope_table(*weights);
      CacheIndexAttention original(weights->hparams(), rope.view(), 40, period);
      const auto want = test::forced_logits(weights, original, text, 1, 1);
      CacheOptions cache{.budget = 40, .buffer = 16, .period = period, .key_type = RowType::kF32,
                         .value_type = RowType::kF32, .positions = Positions::kCache, .stagger = false};
      const auto got = engine_logits(file, cache, text);
      ASSERT_EQ(got.size(), want.size());
      const double size = std::abs(*std::ranges::max_element(want, {}, [](float x) { return std::abs(x); }));
      EXPECT_LT(largest_difference(got, want), 2e-4 * size);
      cache.positions = Positions::kText;
      EXPECT_GT(largest_difference(engine_logits(file, cache, text), want), 1e-2 * size)
          << "positions make no difference";
    }
  }
}

// The metadata stays that of the text, and what no eviction has passed stays as it was stored.
TEST(CachePositions, TextPositionsStayKnown) {
  const std::vector<float> frequencies = {1, 0.3f, 0.1f, 0.03f, 0.01f, 0.003f, 0.001f, 1e-4f,
                                          1, 0.5f, 0.2f, 0.05f, 0.02f, 0.005f, 0.002f, 2e-4f};
  const Rope rope{.frequencies = frequencies};
  for (const bool stagger : {false, true}) {
    SCOPED_TRACE(stagger ? "layers in turns" : "layers together");
    test::Driver driver(test::FakeModel{}, Policy::parse("streaming"),
                        {.budget = 24,
                         .buffer = 8,
                         .period = 8,
                         .key_type = RowType::kF32,
                         .positions = Positions::kCache,
                         .stagger = stagger},
                        {.threads = 1}, rope);
    Sequence s = driver.start(0, 0, 1);
    driver.step({&s}, {24 + 3 * 8});
    const int layer = 1, head = 1;
    // Three evictions of eight have closed the gap; in turns, the second one came four tokens early and dropped four.
    const int dropped = stagger ? 20 : 24;
    const auto kept = driver.kept(layer, 0, head);
    ASSERT_EQ(kept.size(), 48u - dropped);
    HeadSlots slots = driver.head(layer, 0, head);
    for (size_t i = 0; i < kept.size(); ++i) {
      const int32_t position = static_cast<int32_t>(i < kSinks ? i : dropped + i);
      EXPECT_EQ(kept[i], position);
      auto want = driver.fake().row(0, position, layer, 1, 64);
      want.erase(want.begin(), want.begin() + 32);
      want = turned(rope, want, i < kSinks ? dropped : 0);
      std::vector<float> key(32);
      read_row(slots.recent_keys(), slots.order()[i], key.data());
      for (int c = 0; c < 32; ++c) EXPECT_NEAR(key[c], want[c], 1e-5);
    }
  }
}

// Sinks are turned at every eviction and stored again: how far they have drifted after 1,000 (docs/layouts.md).
TEST(CachePositions, DriftStaysSmall) {
  std::vector<float> frequencies;
  for (int f = 0; f < 16; ++f) frequencies.push_back(std::pow(10000.0f, -f / 16.0f));
  const Rope rope{.frequencies = frequencies};
  for (const auto& [type, limit] : {std::pair{RowType::kF16, 0.03}, {RowType::kF32, 1e-4}}) {
    test::Driver driver(test::FakeModel{}, Policy::parse("streaming"),
                        {.budget = 24, .buffer = 8, .period = 8, .key_type = type, .positions = Positions::kCache,
                         .stagger = false},
                        {.threads = 1, .chunk = 4096}, rope);
    Sequence s = driver.start(0, 0, 1);
    while (s.seen < 24 + 8000) driver.step({&s}, {8});
    EXPECT_EQ(s.evictions, 1000);
    double worst = 0;
    for (int layer = 0; layer < 2; ++layer) {
      for (int h = 0; h < 2; ++h) {
        for (int i = 0; i < kSinks; ++i) {
          auto want = driver.fake().row(0, i, layer, 1, 64);
          want = turned(rope, {want.begin() + h * 32, want.begin() + (h + 1) * 32}, 8000);
          std::vector<float> key(32);
          read_row(driver.head(layer, 0, h).recent_keys(), driver.head(layer, 0, h).order()[i], key.data());
          double error = 0, norm = 0;
          for (int c = 0; c < 32; ++c) {
            error += std::pow(key[c] - want[c], 2);
            norm += want[c] * want[c];
          }
          worst = std::max(worst, std::sqrt(error / norm));
        }
      }
    }
    EXPECT_LT(worst, limit);
    RecordProperty(std::string(row_type_name(type)) + "_drift", std::to_string(worst));
  }
}

}  // namespace
}  // namespace vase
