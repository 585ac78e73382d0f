// Which part of a text is still held, and when: on logs written by hand.
#include "eval/retention_map.h"

#include <gtest/gtest.h>

namespace vase::eval {
namespace {

using Shares = std::vector<std::optional<double>>;
constexpr std::nullopt_t kUnseen = std::nullopt;

EvictionRecord record(int layer, int head, int64_t seen, std::vector<int32_t> kept) {
  return {.layer = layer,
          .kv_head = head,
          .seen = seen,
          .buffer = 1,
          .prompt_tokens = 2,
          .kept = std::move(kept)};
}

// Two heads that evict after 4 and after 8 tokens; four moments, four places of two tokens.
TEST(RetentionMap, TwoHeadsByHand) {
  const std::vector<EvictionRecord> log = {record(0, 0, 8, {0, 7}), record(0, 0, 4, {0, 3}),
                                           record(0, 1, 4, {1, 3}), record(0, 1, 8, {3, 7})};
  const RetentionMap map = retention_map(log, 4, 4);
  EXPECT_EQ(map.tokens, 8);
  EXPECT_EQ(map.prompt_tokens, 2);
  EXPECT_EQ(map.heads, 2);
  ASSERT_EQ(map.shares.size(), 4u);
  EXPECT_EQ(map.shares[0], (Shares{1, kUnseen, kUnseen, kUnseen}));  // 2 seen, nothing evicted yet
  EXPECT_EQ(map.shares[1], (Shares{0.5, 0.5, kUnseen, kUnseen}));    // of 0 1 | 2 3: 0, 1 | 3, 3
  EXPECT_EQ(map.shares[2], (Shares{0.5, 0.5, 1, kUnseen}));          // and all since
  EXPECT_EQ(map.shares[3], (Shares{0.25, 0.25, 0, 0.5}));            // 0, - | -, 3 | -, - | 7, 7
}

// Layers take turns: the other head still holds everything when the first evicts.
TEST(RetentionMap, EveryHeadHasItsOwnTime) {
  const std::vector<EvictionRecord> log = {record(0, 0, 4, {0, 3}), record(1, 0, 6, {4, 5}),
                                           record(0, 0, 8, {0, 7})};
  const RetentionMap map = retention_map(log, 4, 2);
  EXPECT_EQ(map.heads, 2);
  EXPECT_EQ(map.shares[1], (Shares{0.75, kUnseen}));  // 0 3 and 0 1 2 3, of 8
  EXPECT_EQ(map.shares[2], (Shares{0.25, 1}));  // 0 3 and none, of 8; 4 5 and 4 5, of the 4 that are there
  EXPECT_EQ(map.shares[3], (Shares{0.125, 0.625}));  // 0 and none; 7 and 4 5 6 7, of 8
}

TEST(RetentionMap, PartsNeedNotDivideTheText) {
  const RetentionMap map = retention_map(std::vector{record(0, 0, 5, {1, 2, 4})}, 5, 2);
  EXPECT_EQ(map.end_of(0, 2), 2);
  EXPECT_EQ(map.shares[1], (Shares{1, kUnseen}));
  EXPECT_EQ(map.shares[2], (Shares{1, 1}));  // one token of the second part has been seen
  EXPECT_EQ(map.shares[4], (Shares{0.5, 2.0 / 3}));
}

TEST(RetentionMap, NoFinerThanTheText) {
  const RetentionMap map = retention_map(std::vector{record(0, 0, 3, {0, 2})}, 60, 120);
  ASSERT_EQ(map.shares.size(), 3u);
  EXPECT_EQ(map.shares[2], (Shares{1, 0, 1}));
}

}  // namespace
}  // namespace vase::eval
