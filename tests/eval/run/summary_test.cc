// Tables: every number worked out by hand.
#include "eval/run/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "run_helpers.h"

namespace vase::eval {
namespace {

using nlohmann::json;

ResultSet set_of(const std::string& name, const std::vector<std::pair<std::string, int>>& cells,
                 std::vector<Result> results) {
  json list = json::array();
  for (const auto& [policy, budget] : cells) list.push_back({{"policy", policy}, {"budget", budget}});
  return {
      name,
      {{"hash", "1"}, {"config", {{"tasks", json::array({{{"name", "t"}}})}, {"cells", list}}}, {"items", 9}},
      std::move(results)};
}

// Two problems, two samples: full gets a right twice and b once; the policy a once and b never.
ResultSet two_problems() {
  return set_of(
      "d", {{"full", 0}, {"p", 50}},
      {result("full", 0, "a", true, 0), result("full", 0, "a", true, 1), result("full", 0, "b", true, 0),
       result("full", 0, "b", false, 1), result("p", 50, "a", true, 0), result("p", 50, "a", false, 1),
       result("p", 50, "b", false, 0), result("p", 50, "b", false, 1)});
}

std::vector<SummaryRow> rows_of(const ResultSet& set) { return summarise({&set, 1}); }

TEST(Summary, PassAt1IsOverProblems) {
  const std::vector<SummaryRow> rows = rows_of(two_problems());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].policy, "full");
  EXPECT_EQ(rows[0].problems, 2);
  EXPECT_EQ(rows[0].items, 4);
  EXPECT_DOUBLE_EQ(rows[0].pass, 0.75);        // (1 + 0.5) / 2
  EXPECT_DOUBLE_EQ(rows[0].pass_error, 0.25);  // sd of {1, 0.5} = 0.5 / sqrt 2, over sqrt 2
  EXPECT_EQ(rows[0].runs, 2);
  EXPECT_DOUBLE_EQ(rows[0].lowest, 0.5);  // sample 1: a alone
  EXPECT_DOUBLE_EQ(rows[0].highest, 1);
}

// Shares of 2 problems: eviction seed 0 has 1 and 0.5 in samples 0 and 1, seed 1 has 0.5 and 0.5.
ResultSet two_seeds() {
  ResultSet set = set_of("d", {{"p", 50}}, {});
  for (const auto& [run, sample, b] :
       {std::tuple(0, 0, true), std::tuple(0, 1, false), std::tuple(1, 0, false), std::tuple(1, 1, false)}) {
    set.results.push_back(result("p", 50, "a", true, sample, run));
    set.results.push_back(result("p", 50, "b", b, sample, run));
  }
  return set;
}

TEST(Summary, DeviationBetweenEvictionSeedsAndBetweenSamples) {
  ResultSet set = two_seeds();
  // Of {1, 0.5} the squares around their mean are 0.125, of {0.5, 0.5} none: 0.125 over 1 + 1.
  EXPECT_DOUBLE_EQ(*rows_of(set)[0].evict_seed_deviation, 0.25);
  EXPECT_DOUBLE_EQ(*rows_of(set)[0].sample_deviation, 0.25);
  EXPECT_NE(summary_table(rows_of(set)).find("| 50.0 to 100.0 | 25.0 seeds, 25.0 samples |"),
            std::string::npos);
  EXPECT_EQ(summary_json(rows_of(set)[0])["evict_seed_sd"], 0.25);

  // A third seed with 0 in sample 0 alone: {1, 0.5, 0} has squares of 0.5, over 2 + 1; samples are as before.
  for (const char* id : {"a", "b"}) set.results.push_back(result("p", 50, id, false, 0, 2));
  EXPECT_DOUBLE_EQ(*rows_of(set)[0].evict_seed_deviation, std::sqrt(0.5 / 3));
  EXPECT_DOUBLE_EQ(*rows_of(set)[0].sample_deviation, 0.25);
}

TEST(Summary, OneSeedHasNoDeviation) {
  ResultSet set = two_seeds();
  std::erase_if(set.results, [](const Result& r) { return r.item.run > 0; });
  EXPECT_FALSE(rows_of(set)[0].evict_seed_deviation);
  EXPECT_DOUBLE_EQ(*rows_of(set)[0].sample_deviation, std::sqrt(0.125));
  EXPECT_NE(summary_table(rows_of(set)).find("| 35.4 samples |"), std::string::npos);
  EXPECT_TRUE(summary_json(rows_of(set)[0])["evict_seed_sd"].is_null());
}

TEST(Summary, SpeedAndPrompts) {
  ResultSet set = set_of("d", {{"p", 50}}, {result("p", 50, "a", true), result("p", 50, "b", true)});
  Result &first = set.results[0], &second = set.results[1];
  first.generated_tokens = 90;
  first.prompt_tokens = 10;
  first.timing = {.process = "x", .start = 100, .seconds = 1};
  second.generated_tokens = 190;
  second.prompt_tokens = 31;
  second.timing = {.process = "x", .start = 100.5, .seconds = 2};
  EXPECT_DOUBLE_EQ(rows_of(set)[0].tokens_per_s, 280 / 2.5);  // both together, from 100 to 102.5
  EXPECT_DOUBLE_EQ(rows_of(set)[0].prompt_tokens, 20.5);
  first.timing.seconds = second.timing.seconds = 0;
  EXPECT_EQ(rows_of(set)[0].tokens_per_s, 0) << "not known";
}

TEST(Summary, PairsAreTheSameItems) {
  const std::vector<SummaryRow> rows = rows_of(two_problems());
  EXPECT_FALSE(rows[0].paired);
  ASSERT_TRUE(rows[1].paired);
  const Paired& p = *rows[1].paired;
  EXPECT_EQ(p.problems, 2);
  EXPECT_DOUBLE_EQ(p.difference, -0.5);    // a: (0 - 1) / 2, b: (-1 + 0) / 2
  EXPECT_FALSE(p.interval) << "both problems differ by as much";
  EXPECT_DOUBLE_EQ(p.p, 0.5);  // 2 of 2 worse: 2 / 2^2
}

TEST(Summary, ItemsThatTheFullCacheLacksAreNotCompared) {
  ResultSet set = two_problems();
  std::erase_if(set.results, [](const Result& r) { return r.item.policy == "full" && r.item.sample == 1; });
  const Paired p = *rows_of(set)[1].paired;
  EXPECT_DOUBLE_EQ(p.difference, -0.5);  // sample 0 alone: a: 0, b: -1
  std::erase_if(set.results,
                [](const Result& r) { return r.item.policy == "full" && r.item.problem_id == "b"; });
  EXPECT_EQ(rows_of(set)[1].paired->problems, 1);
}

TEST(Summary, BothCompressionRatios) {
  ResultSet set = set_of("d", {{"full", 0}, {"p", 50}}, {});
  for (const auto& [id, tokens] : {std::pair("a", 90), std::pair("b", 290), std::pair("c", 20)}) {
    Result full = result("full", 0, id, true);
    full.generated_tokens = tokens;  // and 10 of the prompt: lengths 100, 300, 30
    set.results.push_back(full);
    set.results.push_back(result("p", 50, id, true));
  }
  const Paired p = *rows_of(set)[1].paired;
  EXPECT_DOUBLE_EQ(p.item_ratio, (50.0 / 100 + 50.0 / 300 + 1) / 3);  // the third fits whole
  EXPECT_DOUBLE_EQ(p.mean_ratio, 50 / ((100 + 300 + 30) / 3.0));
}

TEST(Summary, StrictAccuracyAndFailures) {
  ResultSet set = set_of("d", {{"p", 50}}, {});
  for (int i = 0; i < 4; ++i) set.results.push_back(result("p", 50, std::to_string(i), true));
  set.results[0].finish = "length";  // right, but it did not end
  set.results[1].label = "loop";
  set.results[2].label = "garbage";
  set.results[3].label = "truncated";
  set.results[3].extracted.reset();
  set.results[3].right = false;
  set.results[3].generated_tokens = 190;
  set.results[2].kv_bytes = 77;
  const SummaryRow row = rows_of(set)[0];
  EXPECT_DOUBLE_EQ(row.pass, 0.75);
  EXPECT_DOUBLE_EQ(row.strict, 0.5);
  EXPECT_DOUBLE_EQ(row.loop, 0.25);
  EXPECT_DOUBLE_EQ(row.garbage, 0.25);
  EXPECT_DOUBLE_EQ(row.truncated, 0.25);
  EXPECT_DOUBLE_EQ(row.no_answer, 0.25);
  EXPECT_DOUBLE_EQ(row.mean_tokens, (3 * 90 + 190) / 4.0);
  EXPECT_EQ(row.most_tokens, 190);
  EXPECT_EQ(row.kv_bytes, 77u);
}

TEST(Summary, RunsThatAreNotCompleteAreNoneOfTheirOwn) {
  ResultSet set = two_problems();
  set.results.erase(set.results.begin() + 3);  // full, b, sample 1
  const SummaryRow row = rows_of(set)[0];
  EXPECT_EQ(row.runs, 1);
  EXPECT_DOUBLE_EQ(row.lowest, 1);
  EXPECT_DOUBLE_EQ(row.highest, 1);
}

TEST(Summary, AFolderWithoutTheFullCacheIsComparedWithTheFirstThatHasIt) {
  const ResultSet first = two_problems();
  const ResultSet second =
      set_of("e", {{"server:x", 0}}, {result("server:x", 0, "a", false), result("server:x", 0, "b", true)});
  const std::vector<ResultSet> sets = {first, second};
  const std::vector<SummaryRow> rows = summarise(sets);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].set, "e");
  EXPECT_DOUBLE_EQ(rows[2].paired->difference, -0.5);
  EXPECT_EQ(summary_table(rows).substr(0, 18), "| folder | task | ");
}

// The same items once more, in a folder without the full cache.
ResultSet without_full(const json& changes) {
  ResultSet set = set_of("e", {{"p", 50}}, {result("p", 50, "a", false), result("p", 50, "b", true)});
  set.config["config"].update(changes);
  return set;
}

std::optional<Paired> paired_with(const ResultSet& full, const ResultSet& other) {
  const std::vector<ResultSet> sets = {full, other};
  return summarise(sets).back().paired;
}

TEST(Summary, OnlyTheFullCacheOfTheSameModelAndSettingsIsAMeasure) {
  ResultSet first = two_problems();
  const json asked = {{"model", "m"},
                      {"server", ""},
                      {"sampling", {{"temperature", 0.6}}},
                      {"max_tokens", 99},
                      {"stops", {}},
                      {"system", ""},
                      {"raw", false},
                      {"grader", "own"},
                      {"seed", 0},
                      {"cache", {{"context", 0}}}};
  first.config["config"].update(asked);
  ASSERT_TRUE(paired_with(first, without_full(asked)));
  EXPECT_DOUBLE_EQ(paired_with(first, without_full(asked))->difference, -0.5);
  const json changes = {{"model", "n"},
                        {"sampling", {{"temperature", 0}}},
                        {"max_tokens", 9},
                        {"stops", {"END"}},
                        {"stop_loops", 4},
                        {"system", "be brief"},
                        {"raw", true},
                        {"grader", "math-verify 0.8"},
                        {"seed", 1},
                        {"cache", {{"context", 500}}},
                        {"tasks", json::array({{{"name", "t"}, {"instruction", "Guess."}}})}};
  for (const auto& [key, value] : changes.items()) {
    json other = asked;
    other[key] = value;
    EXPECT_FALSE(paired_with(first, without_full(other))) << key;
  }
  json server = asked;
  server.update({{"model", "its name there"}, {"server", "http://h"}});
  server.erase("cache");
  EXPECT_TRUE(paired_with(first, without_full(server)));
}

TEST(Summary, ProblemsWithOneIdAndTwoAnswersAreNotTheSame) {
  ResultSet second = without_full(json::object());
  second.results[0].expected = "12";
  EXPECT_EQ(paired_with(two_problems(), second)->problems, 1);
  second.results[1].expected = "12";
  EXPECT_FALSE(paired_with(two_problems(), second));
}

TEST(BusySeconds, OverlapsCountOnceAndProcessesAddUp) {
  std::vector<Result> results(5);
  const auto span = [&](size_t i, const char* process, double start, double seconds) {
    results[i].timing = {.process = process, .start = start, .seconds = seconds};
  };
  span(0, "x", 10, 5);  // 10 to 15
  span(1, "x", 12, 2);  // within
  span(2, "x", 14, 4);  // 15 to 18 is new
  span(3, "x", 30, 1);  // after a pause
  span(4, "y", 10, 2);  // another machine
  std::vector<const Result*> list;
  for (const Result& r : results) list.push_back(&r);
  EXPECT_DOUBLE_EQ(busy_seconds(list), 5 + 3 + 1 + 2);
}

TEST(SummaryTable, HasACellForEveryColumn) {
  const std::string table = summary_table(rows_of(two_problems()));
  const std::string head = table.substr(0, table.find('\n'));
  size_t lines = 0;
  for (size_t from = 0; table[from] == '|'; from = table.find('\n', from) + 1, ++lines) {
    const std::string line = table.substr(from, table.find('\n', from) - from);
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), std::count(head.begin(), head.end(), '|')) << line;
  }
  EXPECT_EQ(lines, 4u);
  EXPECT_NE(table.find("| p | 50 | 2 | 4 | 25.0 ± 25.0 | 0.0 to 50.0 | 35.4 samples | 25.0 | -50.0 [?] | "
                       "0.5 | 0.50, 0.50 |"),
            std::string::npos)
      << table;
}

// Resampled, differences of -1 and 0 have a mean of -1, -1/2 or 0, with 1/4 at either end.
TEST(SummaryTable, AnIntervalNeedsProblemsThatDiffer) {
  ResultSet set = set_of("d", {{"full", 0}, {"p", 50}},
                         {result("full", 0, "a", true), result("full", 0, "b", true), result("p", 50, "a", false),
                          result("p", 50, "b", true)});
  EXPECT_NE(summary_table(rows_of(set)).find("| -50.0 [-100.0, +0.0] |"), std::string::npos);
  EXPECT_EQ(summary_json(rows_of(set)[1])["against_full"]["low"], -1.0);
  set.results[3].right = false;
  EXPECT_NE(summary_table(rows_of(set)).find("| -100.0 [?] |"), std::string::npos);
  EXPECT_TRUE(summary_json(rows_of(set)[1])["against_full"]["low"].is_null());
}

TEST(SummaryTable, OneProblemHasNoStandardError) {
  const ResultSet set = set_of("d", {{"full", 0}}, {result("full", 0, "a", true)});
  EXPECT_NE(summary_table(rows_of(set)).find("| 100.0 ± ? |"), std::string::npos);
  EXPECT_TRUE(summary_json(rows_of(set)[0])["pass_at_1_error"].is_null());
}

}  // namespace
}  // namespace vase::eval
