#include "end_to_end/case.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "end_to_end/prompt_chunks.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

std::string name_of(const Case& one) {
  return std::to_string(one.threads) + " " + one.kv_type + " d" + std::to_string(one.depth) + " b" +
         std::to_string(one.batch) + " " + std::to_string(one.cache.budget) + " " +
         (Policy::parse(one.policy).evicts() ? "evicts" : "full");
}

TEST(Groups, HoldEveryCombinationOnce) {
  const Grid grid{.tests = {{true, 512}, {false, 128}},
                  .depths = {0, 4096},
                  .batches = {1, 8},
                  .threads = {1, 2},
                  .budgets = {256, 1024},
                  .kv_types = {{"f16"}, {"f32", RowType::kF32, RowType::kF32}},
                  .policies = {{"ours", "vase-attnv"}, {"full", "full"}},
                  .cache = {.buffer = 32}};
  const std::vector<Group> groups = groups_of(grid);
  ASSERT_EQ(groups.size(), 2u * 2 * 2 * 2);
  std::vector<std::string> names;
  for (const Group& group : groups) {
    ASSERT_EQ(group.tests.size(), 2u);
    ASSERT_EQ(group.cases.size(), 3u);  // `full` has no budget
    for (const Case& one : group.cases) {
      names.push_back(name_of(one));
      EXPECT_EQ(one.cache.buffer, 32);
      EXPECT_EQ(one.cache.value_type, one.kv_type == "f32" ? RowType::kF32 : RowType::kF16);
    }
  }
  EXPECT_EQ(groups[0].cases[0].name, "ours");
  EXPECT_EQ(groups[0].cases[0].policy, Policy::parse("vase-attnv").text());
  EXPECT_EQ(names[0], "1 f16 d0 b1 256 evicts");
  EXPECT_EQ(names[1], "1 f16 d0 b1 1024 evicts");
  EXPECT_EQ(names[3], "1 f16 d0 b8 256 evicts");
  EXPECT_EQ(names.back().substr(0, 14), "2 f32 d4096 b8");
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Groups, ProductsTakeTurns) {
  const auto own = model::WeightLayout::kOwn, ggml = model::WeightLayout::kGgml;
  const std::vector<Group> groups =
      groups_of({.policies = {{"full", "full"}, {"ours", "vase-attnv"}}, .layouts = {own, ggml}});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].cases.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(groups[0].cases[i].layout, i % 2 ? ggml : own) << i;
}

TEST(Groups, ChunksTakeTurns) {
  const std::vector<Group> groups = groups_of({.policies = {{"full", "full"}}, .chunks = {128, 512}});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].cases.size(), 2u);
  EXPECT_EQ(groups[0].cases[0].chunk, 128);
  EXPECT_EQ(groups[0].cases[1].chunk, 512);
}

TEST(Groups, APolicyThatReadsHasABudget) {
  const std::vector<Group> groups = groups_of({.budgets = {64, 128}, .policies = {{"quest", "quest"}}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].cases.size(), 2u);
  EXPECT_THROW(groups_of({.policies = {{"nonsense", "nonsense"}}}), Error);
}

TEST(Names, AreThoseOfLlamaBench) {
  EXPECT_EQ((bench::Test{true, 512}.name()), "pp512");
  EXPECT_EQ((bench::Test{false, 128}.name()), "tg128");
}

// All batches as "sequence:tokens", an asterisk where a prompt ends, and how many are finished after each.
std::string batches(PromptChunks chunks, int chunk, int most_per_part) {
  std::string all;
  while (!chunks.done()) {
    for (const PromptPart& part :
         chunks.next(chunk, [&](int, int wanted) { return std::min(wanted, most_per_part); })) {
      all += std::to_string(part.sequence) + ":" + std::to_string(part.tokens) + (part.last ? "* " : " ");
    }
    all += "=" + std::to_string(chunks.finished()) + " ";
  }
  return all;
}

TEST(PromptChunks, FillBatchesAcrossSequences) {
  EXPECT_EQ(batches({1, 10}, 4, 99), "0:4 =0 0:4 =0 0:2* =1 ");
  EXPECT_EQ(batches({3, 3}, 4, 99), "0:3* 1:1 =1 1:2* 2:2 =2 2:1* =3 ");
  EXPECT_EQ(batches({2, 5}, 4, 2), "0:2 1:2 =0 0:2 1:2 =0 0:1* 1:1* =2 ");
}

}  // namespace
}  // namespace vase::bench
