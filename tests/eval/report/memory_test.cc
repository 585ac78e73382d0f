// Memory as a text grows, worked out by hand.
#include "eval/report/memory.h"

#include <gtest/gtest.h>

#include "report_helpers.h"

namespace vase::eval::report {
namespace {

std::vector<MemoryGroup> groups_of(const std::vector<ResultSet>& sets) {
  return memory_groups_of(sets, summarise(sets));
}

// 10 tokens of prompt; the last generated token is never put in. Buffer and period are 16.
TEST(Memory, BytesPerSlotFollowFromTheRecords) {
  const std::vector<MemoryGroup> groups = groups_of(
      {set_of("d", {{"full", 0}, {"p", 64}},
              {sized("full", 0, "a", true, 91, 100 * 1000), sized("full", 0, "b", true, 191, 200 * 1000),
               sized("p", 64, "a", true, 191, 80 * 1100)})});
  ASSERT_EQ(groups.size(), 1u);
  const MemoryGroup& group = groups[0];
  EXPECT_EQ(group.longest, 201);
  EXPECT_EQ(group.allowed, 1010);  // 10 and max_tokens
  EXPECT_EQ(group.rows, "f16 keys, f16 values");
  ASSERT_EQ(group.lines.size(), 2u);
  EXPECT_DOUBLE_EQ(group.lines[0].slot_bytes, 1000);
  EXPECT_EQ(group.lines[0].slots, 0);
  EXPECT_DOUBLE_EQ(group.lines[0].bytes_at(5000), 5e6);
  EXPECT_DOUBLE_EQ(group.lines[1].slot_bytes, 1100);
  EXPECT_EQ(group.lines[1].slots, 80);  // 64 + 16
  EXPECT_DOUBLE_EQ(group.lines[1].bytes_at(50), 55000);
  EXPECT_DOUBLE_EQ(group.lines[1].bytes_at(5000), 88000);
  EXPECT_EQ(group.full(), &group.lines[0]);
}

TEST(Memory, ATextThatFitsTellsTheBytesAsWell) {
  const std::vector<MemoryGroup> groups =
      groups_of({set_of("d", {{"p", 64}}, {sized("p", 64, "a", true, 41, 50 * 1100)})});
  EXPECT_DOUBLE_EQ(groups[0].lines[0].slot_bytes, 1100);
  EXPECT_EQ(groups[0].lines[0].slots, 80);
  EXPECT_EQ(groups[0].full(), nullptr);
}

TEST(Memory, WhatDoesNotGrowIsToldApart) {
  const std::vector<MemoryGroup> groups =
      groups_of({set_of("d", {{"full", 0}},
                        {sized("full", 0, "a", true, 91, 7000 + 100 * 1000),
                         sized("full", 0, "b", true, 191, 7000 + 200 * 1000),
                         sized("full", 0, "c", true, 141, 7000 + 150 * 1000)})});
  EXPECT_DOUBLE_EQ(groups[0].lines[0].slot_bytes, 1000);
  EXPECT_DOUBLE_EQ(groups[0].lines[0].fixed_bytes, 7000);
  EXPECT_DOUBLE_EQ(groups[0].lines[0].bytes_at(2000), 2007000);
}

TEST(Memory, APolicyOnSeveralTasksCountsWithTheMost) {
  const ResultSet other = set_of("e", {{"p", 64}}, {sized("p", 64, "a", true, 41, 5000)});
  const std::vector<MemoryGroup> groups =
      groups_of({other, set_of("d", {{"p", 64}}, {sized("p", 64, "b", true, 191, 80000)})});
  ASSERT_EQ(groups[0].lines.size(), 1u);
  EXPECT_EQ(groups[0].lines[0].most_bytes, 80000u);
  EXPECT_DOUBLE_EQ(groups[0].lines[0].slot_bytes, 1000);
}

TEST(Memory, APromptThatIsStoredWholeNeedsItsSlots) {
  ResultSet set = set_of("d", {{"p", 64}}, {sized("p", 64, "a", true, 200, 0)});
  set.config["config"]["cache"]["prefill"] = "dense";
  set.results[0].prompt_tokens = 100;
  set.results[0].kv_bytes = 116 * 500;
  const std::vector<MemoryGroup> groups = groups_of({set});
  EXPECT_EQ(groups[0].lines[0].slots, 116);  // 100 + 16
  EXPECT_DOUBLE_EQ(groups[0].lines[0].slot_bytes, 500);
}

TEST(Memory, APolicyThatReadsKeepsEverything) {
  ResultSet set = set_of("d", {{"quest", 64}}, {sized("quest", 64, "a", true, 191, 200 * 1000)});
  set.config["config"]["cells"][0]["parts"] = "read=quest:page=16";
  const std::vector<MemoryGroup> groups = groups_of({set});
  EXPECT_EQ(groups[0].lines[0].slots, 0);
  EXPECT_DOUBLE_EQ(groups[0].lines[0].slot_bytes, 1000);
}

TEST(Memory, RowTypesAndModelsAreKeptApartAndServersLeftOut) {
  ResultSet other = set_of("e", {{"p", 64}}, {sized("p", 64, "a", true, 41, 5000)}),
            server = set_of("s", {{"server:x", 0}}, {result("server:x", 0, "a", true)});
  other.config["config"]["cache"]["value_type"] = "q8_0";
  const std::vector<MemoryGroup> groups =
      groups_of({set_of("d", {{"p", 64}}, {sized("p", 64, "a", true, 41, 5000)}), other, server,
                 set_of("f", {{"p", 64}}, {sized("p", 64, "a", true, 41, 5000)}, "cafe")});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].rows, "f16 keys, q8_0 values");
  EXPECT_EQ(groups[2].model, "cafe");
}

TEST(Memory, TheContextLimitsTheLength) {
  ResultSet set = set_of("d", {{"p", 64}}, {sized("p", 64, "a", true, 41, 5000)});
  set.config["config"]["cache"]["context"] = 300;
  EXPECT_EQ(groups_of({set})[0].allowed, 300);
}

}  // namespace
}  // namespace vase::eval::report
