// Half precision, row access, huge buffers, counter-based draws, FNV-1a, cosines.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "base/cosine.h"
#include "base/fnv.h"
#include "base/half.h"
#include "base/huge_buffer.h"
#include "base/machine.h"
#include "base/philox_draws.h"
#include "base/store_row.h"
#include "vase/error.h"
#include "vase/rows.h"

namespace vase {
namespace {

TEST(Half, EveryValueRoundTrips) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float x = from_half(static_cast<uint16_t>(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(from_half(to_half(x))));
    } else {
      EXPECT_EQ(to_half(x), h);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x7bff; ++h) {  // between every two neighbours
    const float low = from_half(static_cast<uint16_t>(h)), high = from_half(static_cast<uint16_t>(h + 1));
    const float middle = low + (high - low) / 2;
    EXPECT_EQ(to_half(middle), h % 2 == 0 ? h : h + 1);
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0f)), h);
    EXPECT_EQ(to_half(std::nextafter(middle, 1e9f)), h + 1);
  }
}

TEST(Half, Extremes) {
  EXPECT_EQ(to_half(65519.0f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(to_half(1e-30f), 0);
  EXPECT_EQ(from_half(0x3c00), 1.0f);
}

TEST(Rows, ReadsThroughStrideAndSlots) {
  std::vector<uint16_t> data(4 * 24);
  for (size_t i = 0; i < data.size(); ++i) data[i] = to_half(static_cast<float>(i));
  const uint32_t slots[] = {3, 1};
  const RowsView view{data.data(), 48, RowType::kF16, 20, slots};
  float out[20];
  read_row(view, 0, out);
  EXPECT_EQ(out[0], 72);
  EXPECT_EQ(out[19], 91);
}

TEST(Rows, ThatNobodyAskedForAreRefused) {
  RowsView view{.width = 20};
  const uint32_t slot = 0;
  float out[20];
  EXPECT_THROW(read_row(view, 0, out), Error);
  view.slots = &slot;
  EXPECT_THROW(read_row(view, 0, out), Error);
}

TEST(Bfloat, RoundsToNearestEven) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float x = from_bfloat(static_cast<uint16_t>(h));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(x))));
    } else {
      EXPECT_EQ(to_bfloat(x), h);
    }
  }
  EXPECT_EQ(to_bfloat(1 + 0x1p-8f), 0x3f80);             // half way, to the even neighbour
  EXPECT_EQ(to_bfloat(1 + 0x3p-8f), 0x3f82);
  EXPECT_EQ(to_bfloat(std::nextafter(1 + 0x1p-8f, 2.0f)), 0x3f81);
  EXPECT_EQ(to_bfloat(3.4e38f), 0x7f80);                 // rounds to infinity
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::bit_cast<float>(0x7f800001u)))));
}

// Normal numbers of common widths, and of one that leaves a tail.
TEST(Rows, StoredAndReadAgain) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const RowType type : kRowTypes) {
    for (const int width : {20, 32, 64, 128, 256}) {
      std::vector<float> row(width), read(width);
      for (float& x : row) x = normal(random);
      std::vector<std::byte> bytes(row_bytes(type, width), std::byte{0xff});
      store_row(type, row.data(), width, bytes.data());
      read_row({bytes.data(), bytes.size(), type, width, nullptr}, 0, read.data());
      for (int c = 0; c < width; ++c) {
        const float step = type == RowType::kF32 ? 0 : (type == RowType::kF16 ? 0x1p-11f : 0x1p-8f) * std::fabs(row[c]);
        EXPECT_NEAR(read[c], row[c], step) << row_type_name(type) << ", channel " << c << " of " << width;
      }
      for (size_t i = bytes.size() / padded_row(width) * width; i < bytes.size(); ++i) {
        EXPECT_EQ(bytes[i], std::byte{0});
      }
    }
  }
}

TEST(HugeBuffer, IsZeroAndMovable) {
  HugeBuffer a(5u << 20);
  for (size_t i = 0; i < a.size(); i += 4096) EXPECT_EQ(a.data()[i], std::byte{0});
  std::byte* p = a.data();
  HugeBuffer b(std::move(a));
  EXPECT_EQ(b.data(), p);
  EXPECT_EQ(HugeBuffer(0).data(), nullptr);
}

TEST(HugeBuffer, RefusesTheImpossible) {
  try {
    HugeBuffer buffer(size_t(1) << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResource);
  }
}

// More than the machine has free is an error, not a process that is killed when it touches the pages.
TEST(HugeBuffer, RefusesMoreThanIsFree) {
  const uint64_t available = available_memory();
  if (available == UINT64_MAX) GTEST_SKIP() << "this system does not say how much memory is free";
  EXPECT_THROW(HugeBuffer(available + (uint64_t(1) << 30)), Error);
}

TEST(Machine, HasCores) {
  EXPECT_GE(physical_cores(), 1);
  EXPECT_LE(physical_cores(), 256);
}

std::vector<int32_t> positions(int n) {
  std::vector<int32_t> p(n);
  for (int i = 0; i < n; ++i) p[i] = i;
  return p;
}

TEST(PhiloxDraws, DependOnPositionNotOnCallOrder) {
  const DrawKey key{.seed = 5, .sequence = 1, .layer = 2, .head = 3, .eviction = 4};
  const auto all = positions(64);
  std::vector<float> whole(64), single(1);
  PhiloxDraws(key).exponential(all, whole);
  for (int i = 63; i >= 0; --i) {
    PhiloxDraws(key).exponential(std::span(all).subspan(i, 1), single);
    EXPECT_EQ(single[0], whole[i]);
  }
}

TEST(PhiloxDraws, EveryKeyFieldMatters) {
  const DrawKey base{.seed = 5, .sequence = 1, .layer = 2, .head = 3, .eviction = 4};
  std::set<float> first;
  for (int field = 0; field < 7; ++field) {
    DrawKey key = base;
    if (field == 1) key.seed = 6;
    if (field == 2) key.seed = 5 + (uint64_t(1) << 40);
    if (field == 3) key.sequence = 2;
    if (field == 4) key.layer = 3;
    if (field == 5) key.head = 4;
    if (field == 6) key.eviction = 5;
    float x;
    PhiloxDraws(key).uniform(positions(1), {&x, 1});
    first.insert(x);
  }
  EXPECT_EQ(first.size(), 7u);
}

TEST(PhiloxDraws, MomentsOfTheDistributions) {
  const int n = 200000;
  const auto p = positions(n);
  std::vector<float> x(n);
  const auto mean = [&](auto f) {
    double sum = 0;
    for (float v : x) sum += f(v);
    return sum / n;
  };
  PhiloxDraws draws({.seed = 1});
  draws.uniform(p, x);
  EXPECT_NEAR(mean([](double v) { return v; }), 0.5, 4 * std::sqrt(1.0 / 12 / n));
  draws.exponential(p, x);
  EXPECT_NEAR(mean([](double v) { return v; }), 1.0, 4 / std::sqrt(n));
  for (float v : x) ASSERT_TRUE(v > 0 && std::isfinite(v));
  draws.gaussian(true, x);
  EXPECT_NEAR(mean([](double v) { return v; }), 0.0, 4 / std::sqrt(n));
  EXPECT_NEAR(mean([](double v) { return v * v; }), 1.0, 4 * std::sqrt(2.0 / n));
}

TEST(PhiloxDraws, GaussianIsSharedByHeadsAndFixedOnRequest) {
  std::vector<float> a(40), b(40), c(40);
  PhiloxDraws({.layer = 1, .head = 0, .eviction = 3}).gaussian(true, a);
  PhiloxDraws({.layer = 1, .head = 7, .eviction = 3}).gaussian(true, b);
  EXPECT_EQ(a, b);
  PhiloxDraws({.layer = 1, .eviction = 4}).gaussian(true, c);
  EXPECT_NE(a, c);
  PhiloxDraws({.layer = 1, .eviction = 3}).gaussian(false, a);
  PhiloxDraws({.layer = 1, .eviction = 9}).gaussian(false, b);
  EXPECT_EQ(a, b);
  PhiloxDraws({.layer = 2, .eviction = 9}).gaussian(false, c);
  EXPECT_NE(a, c);
}

TEST(PhiloxUniform, StaysBelowOneAndUsesAllSeedBits) {
  std::set<double> values;
  for (uint64_t seed : {uint64_t(0), uint64_t(0xffffffff), uint64_t(1) << 63}) values.insert(philox_uniform(seed, 7));
  EXPECT_EQ(values.size(), 3u);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(philox_uniform(9, i), 0);
    EXPECT_LT(philox_uniform(9, i), 1);
  }
}

// Test values of FNV-1a, 64 bits.
TEST(FnvHash, OfTextsAndBytesInPieces) {
  EXPECT_EQ(Fnv().value(), 0xcbf29ce484222325u);
  Fnv text, bytes;
  for (const std::string_view piece : {"foo", "", "bar"}) {
    text.add(piece);
    bytes.add(std::as_bytes(std::span(piece)));
  }
  EXPECT_EQ(text.value(), 0x85944171f73967e8u);
  EXPECT_EQ(bytes.value(), 0x85944171f73967e8u);
}

TEST(Cosine, ByHand) {
  EXPECT_DOUBLE_EQ(*mean_abs_cosine(std::vector<float>{1, 0, -2, 0, 0, 3}, 2), 1.0 / 3);  // pairs 1, 0, 0
  EXPECT_NEAR(*mean_abs_cosine(std::vector<float>{1, 1, 1, 0}, 2), std::sqrt(0.5), 1e-12);
  EXPECT_DOUBLE_EQ(*mean_abs_cosine(std::vector<float>{0, 0, 1, 0}, 2), 0);  // a row without length
  EXPECT_FALSE(mean_abs_cosine(std::vector<float>{1, 2}, 2));
}

// Of 1024 rows the even ones point along one axis, the odd ones along the other: every second row is compared.
TEST(Cosine, AtMost512RowsAreCompared) {
  std::vector<float> rows;
  for (int i = 0; i < 1024; ++i) rows.insert(rows.end(), {i % 2 ? 0.0f : 1.0f, i % 2 ? 1.0f : 0.0f});
  EXPECT_DOUBLE_EQ(*mean_abs_cosine(rows, 2), 1);
}

}  // namespace
}  // namespace vase
