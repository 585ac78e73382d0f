// The draws for many counters at once: Random123's bits, and the same numbers on every target.
#include "base/philox_draws.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "kernels/simd_target.h"
#include "vase/simd.h"

namespace vase {
namespace {

constexpr DrawKey kKey{
    .seed = 0xfedcba9876543210, .sequence = 0xdeadbeef, .layer = 65535, .head = 4095, .eviction = 77};

// The block of key and counter as the header of DrawKey describes them.
r123::Philox4x32::ctr_type block(const DrawKey& key, uint32_t purpose, uint32_t counter) {
  const uint32_t place = (key.layer << 16) | (key.head << 4) | purpose;
  return r123::Philox4x32()({{counter, key.eviction, place, key.sequence}},
                            {{static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)}});
}

uint64_t joined(uint32_t high, uint32_t low) { return uint64_t(high) << 32 | low; }
double open_unit(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

// Small, large and negative positions, of a number that no vector divides.
std::vector<int32_t> positions() {
  std::vector<int32_t> all;
  for (int i = 0; i < 100003; ++i) all.push_back(i % 5 == 0 ? -i : i * 21473);
  return all;
}

// `want` up to the rounding of the last bit, and the same bits on every target.
void expect_on_every_target(const std::function<void(std::span<float>)>& draw, const std::vector<double>& want,
                            double slack) {
  std::vector<float> first;
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    kernels::force_simd_target(target);
    std::vector<float> got(want.size());
    draw(got);
    if (first.empty()) first = got;
    EXPECT_EQ(got, first);
    int rounded_otherwise = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], slack * std::abs(want[i])) << i;
      rounded_otherwise += got[i] != static_cast<float>(want[i]);
    }
    EXPECT_LE(rounded_otherwise, 1);
  }
  kernels::force_simd_target("");
}

TEST(PhiloxSpans, UniformHasTheBitsOfRandom123) {
  const std::vector<int32_t> at = positions();
  std::vector<double> want;
  for (int32_t p : at) want.push_back((block(kKey, 1, static_cast<uint32_t>(p))[0] >> 8) * 0x1p-24);
  expect_on_every_target([&](std::span<float> out) { PhiloxDraws(kKey).uniform(at, out); }, want, 0);
}

TEST(PhiloxSpans, ExponentialIsTheLogarithmOfItsBits) {
  const std::vector<int32_t> at = positions();
  std::vector<double> want;
  for (int32_t p : at) {
    const auto r = block(kKey, 2, static_cast<uint32_t>(p));
    want.push_back(-std::log1p(-open_unit(joined(r[0], r[1]))));
  }
  expect_on_every_target([&](std::span<float> out) { PhiloxDraws(kKey).exponential(at, out); }, want, 1.2e-7);
}

TEST(PhiloxSpans, GaussianIsBoxMullerOfItsBits) {
  DrawKey key = kKey;
  key.head = 0;
  std::vector<double> want;
  for (uint32_t i = 0; i < 50001; ++i) {
    const auto r = block(key, 3, i);
    const double radius = std::sqrt(-2 * std::log(open_unit(joined(r[0], r[1]))));
    const double angle = 2 * std::numbers::pi * static_cast<double>(joined(r[2], r[3]) >> 11) * 0x1p-53;
    want.push_back(radius * std::cos(angle));
    if (i < 50000) want.push_back(radius * std::sin(angle));
  }
  expect_on_every_target([&](std::span<float> out) { PhiloxDraws(kKey).gaussian(true, out); }, want, 1.2e-7);
}

// A span's end goes through the same arithmetic as its middle.
TEST(PhiloxSpans, LengthChangesNoNumber) {
  const std::vector<int32_t> at = positions();
  std::vector<float> whole(100), normal(100);
  PhiloxDraws(kKey).exponential(std::span(at).first(100), whole);
  PhiloxDraws(kKey).gaussian(true, normal);
  for (size_t n = 0; n <= 100; ++n) {
    std::vector<float> part(n), normal_part(n);
    PhiloxDraws(kKey).exponential(std::span(at).first(n), part);
    PhiloxDraws(kKey).gaussian(true, normal_part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << n;
    EXPECT_TRUE(std::equal(normal_part.begin(), normal_part.end(), normal.begin())) << n;
  }
}

}  // namespace
}  // namespace vase
