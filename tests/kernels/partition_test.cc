// The cut of a pool against a sort of it.
#include "kernels/top_k/partition.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace vase::kernels {
namespace {

// Keys whose bits differ at the top, at the bottom, everywhere, and not at all.
std::vector<uint64_t> keys_of(int kind, int bits, size_t count) {
  std::mt19937_64 random(kind);
  std::vector<uint64_t> keys(count);
  for (uint64_t& key : keys) {
    const uint64_t any = random() >> (64 - bits);
    const uint64_t kinds[] = {
        any, any & 7, any >> (bits - 3) << (bits - 3), any & 1 ? any : 5, 0, ~uint64_t(0) >> (64 - bits)};
    key = kinds[kind];
  }
  return keys;
}

TEST(Partition, TakesTheSmallestByKeyThenTie) {
  for (int bits : {3, 11, 32, 64}) {
    for (int kind = 0; kind < 6; ++kind) {
      for (size_t size : {2u, 191u, 192u, 1000u}) {
        const std::vector<uint64_t> keys = keys_of(kind, bits, size);
        const auto key = [&](uint32_t c) { return keys[c]; };
        const auto tie = [&](uint32_t c) { return tie_key(static_cast<int32_t>(c * 7919 % 100) - 50, c); };
        std::vector<uint32_t> sorted(size);
        std::iota(sorted.begin(), sorted.end(), 0);
        std::shuffle(sorted.begin(), sorted.end(), std::mt19937(kind));
        const std::vector<uint32_t> pool = sorted;
        std::sort(sorted.begin(), sorted.end(), KeyOrder{key, tie});
        for (size_t count : {size_t(0), size_t(1), size / 3, size - 1, size, size + 1}) {
          std::vector<uint32_t> cut = pool;
          partition_smallest(cut, count, key, tie);
          const size_t taken = std::min(count, size);
          std::sort(cut.begin(), cut.begin() + taken, KeyOrder{key, tie});
          std::sort(cut.begin() + taken, cut.end(), KeyOrder{key, tie});
          ASSERT_EQ(cut, sorted) << bits << " bits, kind " << kind << ", " << count << " of " << size;
        }
      }
    }
  }
}

TEST(Partition, SmallerPositionsBeforeSmallerIndices) {
  EXPECT_LT(tie_key(-1, 9), tie_key(0, 3));
  EXPECT_LT(tie_key(5, 9), tie_key(6, 0));
  EXPECT_LT(tie_key(5, 3), tie_key(5, 9));
}

}  // namespace
}  // namespace vase::kernels
