// Types of rows through the engine's attention: what is refused, and that every pair of types gives what it should.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/attention_driver.h"
#include "vase/error.h"
#include "vase/memory.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;

double relative_error(const std::vector<float>& actual, const std::vector<float>& want) {
  EXPECT_EQ(actual.size(), want.size());
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += std::pow(double(actual[i]) - want[i], 2);
    norm += std::pow(double(want[i]), 2);
  }
  return std::sqrt(error / norm);
}

// One token at a time, or in chunks, far beyond the capacity: nine evictions.
std::vector<float> outputs(const CacheOptions& cache, AttentionPath path, int chunk) {
  Driver driver(FakeModel{}, "random", cache, {.threads = 2, .chunk = 64, .path = path, .poison_free_rows = true});
  Sequence s = driver.start(0, 0, 1);
  std::vector<float> all;
  while (s.seen < 200) {
    const int tokens = std::min(chunk, 200 - static_cast<int>(s.seen));
    const std::vector<float> out = driver.step({&s}, {tokens})[0];
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

// What stays is drawn at random here, so that rounding decides nothing.
TEST(RowTypes, FusedEqualsTheReferenceAndChunksEqualTokens) {
  for (const RowType k : kCacheTypes) {
    for (const RowType v : kCacheTypes) {
      SCOPED_TRACE(std::string(row_type_name(k)) + ", " + std::string(row_type_name(v)));
      const CacheOptions cache{.budget = 48, .buffer = 16, .key_type = k, .value_type = v};
      const auto one = outputs(cache, AttentionPath::kFused, 1), want = outputs(cache, AttentionPath::kReference, 1);
      EXPECT_LT(relative_error(one, want), is_quantised(k) || is_quantised(v) ? 2e-5 : 2e-6);
      EXPECT_EQ(outputs(cache, AttentionPath::kFused, 7), one);
      EXPECT_EQ(outputs(cache, AttentionPath::kFused, 64), one);
    }
  }
}

// How far outputs are from those of rows in f32: within a factor of two the rounding of the coarser type.
TEST(RowTypes, RoundingIsAllThatDiffers) {
  const auto rounding = [](RowType type) {
    switch (type) {
      case RowType::kF32: return 0.0;
      case RowType::kF16: return 3e-4;
      case RowType::kBF16: return 2e-3;
      case RowType::kQ8_0: return 4e-3;
      default: return 8e-2;
    }
  };
  const auto outputs_with = [](RowType k, RowType v) {
    return outputs({.budget = 48, .buffer = 16, .key_type = k, .value_type = v}, AttentionPath::kFused, 1);
  };
  const std::vector<float> exact = outputs_with(RowType::kF32, RowType::kF32);
  for (const RowType k : kCacheTypes) {
    for (const RowType v : kCacheTypes) {
      SCOPED_TRACE(row_types_name(k, v));
      const double error = relative_error(outputs_with(k, v), exact);
      const double expected = std::max(rounding(k), rounding(v));
      EXPECT_LE(error, 2 * expected);
      EXPECT_GE(error, 0.5 * expected);
    }
  }
}

// Keys of a model with a bias: a large constant, rotated, and normal numbers beside it.
struct BiasedKeys {
  static constexpr int kHeadDim = 32, kKvHeads = 2, kPairs = kHeadDim / 2;

  BiasedKeys() {
    for (int f = 0; f < kPairs; ++f) frequencies.push_back(std::pow(1e4f, -float(f) / kPairs));
    for (const int channel : {3, 7, 19, 30}) bias[channel] = channel % 2 == 1 ? 40 : -25;
  }

  std::vector<float> row(int64_t position, int what) const {
    std::vector<float> row = FakeModel{}.row(5, position, 0, what, what == 0 ? 4 * kHeadDim : kKvHeads * kHeadDim);
    const kernels::KeyOffset all = kernels::key_offset(bias, rope(), kHeadDim);
    for (int h = 0; h < kKvHeads && what == 1; ++h) {
      kernels::add_key_offset(all, static_cast<int32_t>(position), 1, row.data() + h * kHeadDim);
    }
    return row;
  }
  Rope rope() const { return {.frequencies = frequencies}; }

  std::vector<float> frequencies, bias = std::vector<float>(kHeadDim);
};

// Distance to what rows of f32 give, of the attention of 300 tokens, three quarters of which have been quantised and
// evicted.
double error_of(const BiasedKeys& keys, RowType type, int pairs, AttentionPath path) {
  FakeModel fake;
  fake.own_rows = [&](int64_t position, int what) { return keys.row(position, what); };
  std::vector<float> all[2];
  for (const RowType key_type : {RowType::kF32, type}) {
    Driver driver(fake, "random", {.budget = 64, .buffer = 16, .key_type = key_type, .value_type = RowType::kF32},
                  {.threads = 1, .path = path});
    if (pairs > 0 && key_type == type) {
      driver.cache().set_key_offsets(
          std::vector(2 * BiasedKeys::kKvHeads, kernels::key_offset(keys.bias, keys.rope(), pairs)));
    }
    Sequence s = driver.start(0, 0, 1);
    while (s.seen < 300) {
      const std::vector<float> out = driver.step({&s}, {1})[0];
      all[key_type == type].insert(all[key_type == type].end(), out.begin(), out.end());
    }
  }
  return relative_error(all[1], all[0]);
}

TEST(RowTypes, KeysAreQuantisedWithoutTheirConstantPart) {
  const BiasedKeys keys;
  for (const AttentionPath path : {AttentionPath::kFused, AttentionPath::kReference}) {
    const double plain = error_of(keys, RowType::kQ4_0, 0, path), offset = error_of(keys, RowType::kQ4_0, 8, path);
    EXPECT_LT(offset, 0.2 * plain);
    EXPECT_LT(offset, 0.15);
    EXPECT_LT(error_of(keys, RowType::kQ8_0, 8, path), 0.02);
  }
}

// What policies and researchers see of a key is the whole key.
TEST(RowTypes, KeysAreReadWithTheirConstantPart) {
  const BiasedKeys keys;
  FakeModel fake;
  fake.own_rows = [&](int64_t position, int what) { return keys.row(position, what); };
  Driver driver(fake, "random", {.budget = 64, .buffer = 16, .key_type = RowType::kQ8_0}, {.threads = 1});
  driver.cache().set_key_offsets(std::vector(2 * BiasedKeys::kKvHeads, kernels::key_offset(keys.bias, keys.rope(), 8)));
  Sequence s = driver.start(0, 0, 1);
  while (s.seen < 150) driver.step({&s}, {1});
  HeadSlots head = driver.head(1, 0, 1);
  ASSERT_GT(head.older_used(), 0);
  std::vector<float> key(BiasedKeys::kHeadDim);
  for (const uint32_t slot : head.order()) {
    head.read_key(slot, key.data());
    const std::vector<float> want = keys.row(head.position(slot), 1);
    for (int c = 0; c < BiasedKeys::kHeadDim; ++c) EXPECT_NEAR(key[c], want[BiasedKeys::kHeadDim + c], 0.05) << c;
  }
}

void expect_refused(int head_dim, const CacheOptions& cache, const std::vector<std::string>& words) {
  const ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = head_dim, .trained_context = 4096};
  try {
    plan_memory(shape, Policy::parse("streaming"), cache, {.threads = 1});
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    for (const auto& word : words) EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(RowTypes, BlocksMustFillTheRows) {
  expect_refused(80, {.key_type = RowType::kQ8_0}, {"keys", "q8_0", "32", "80", "f32, f16, bf16"});
  expect_refused(112, {.value_type = RowType::kQ8_0}, {"values", "112"});
}

// Keys that are turned are rounded again each time.
TEST(RowTypes, KeysThatMoveUpHaveFineSteps) {
  expect_refused(64, {.key_type = RowType::kQ8_0, .positions = Positions::kCache}, {"positions", "q8_0", "f16 or f32"});
  expect_refused(64, {.key_type = RowType::kBF16, .positions = Positions::kCache}, {"positions", "bf16", "f16 or f32"});
  const ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 64, .trained_context = 4096};
  const CacheOptions values{.value_type = RowType::kQ8_0, .positions = Positions::kCache};
  EXPECT_EQ(plan_memory(shape, Policy::parse("streaming"), values, {}).value_row, 68);
}

TEST(RowTypes, BytesOfRows) {
  const ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 128, .trained_context = 4096};
  const int bytes[] = {512, 256, 256, 136, 72};
  for (size_t i = 0; i < std::size(kCacheTypes); ++i) {
    const MemoryPlan plan = plan_memory(shape, Policy(), {.key_type = kCacheTypes[i]}, {});
    EXPECT_EQ(plan.key_row, bytes[i]);
    EXPECT_EQ(plan.value_row, 256);
  }
}

}  // namespace
}  // namespace vase
