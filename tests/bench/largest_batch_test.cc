#include "end_to_end/largest_batch.h"

#include <gtest/gtest.h>

namespace vase::bench {
namespace {

TEST(LargestBatch, FitsAndOneMoreDoesNot) {
  for (int limit = 0; limit < 200; ++limit) {
    const auto bytes = [](int batch) { return uint64_t(20 + 7 * batch); };
    const int batch = largest_batch(bytes, limit, 1000);
    EXPECT_TRUE(batch == 0 || bytes(batch) <= uint64_t(limit)) << limit;
    EXPECT_GT(bytes(batch + 1), uint64_t(limit));
  }
}

TEST(LargestBatch, StaysBelowTheMost) {
  EXPECT_EQ(largest_batch([](int) { return uint64_t(0); }, 10, 37), 37);
}

TEST(LargestBatch, AsksLittleBeyondTheAnswer) {
  int largest_asked = 0;
  const auto bytes = [&](int batch) {
    largest_asked = std::max(largest_asked, batch);
    return uint64_t(batch);
  };
  EXPECT_EQ(largest_batch(bytes, 9, 4096), 9);
  EXPECT_LE(largest_asked, 18);
}

}  // namespace
}  // namespace vase::bench
