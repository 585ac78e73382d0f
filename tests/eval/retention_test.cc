// Retention diagnostics on cases worked out by hand.
#include "eval/retention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "eval/eviction_log.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

// P = 4, buffer from 20 on: two heads of 4 kept candidates out of 10.
LayerKept two_heads() { return {{{0, 1, 5, 7}, {9, 1, 2, 5}}, 10, 4, 20}; }

TEST(Retention, TwoHeadsByHand) {
  const Retention r = measure_retention(two_heads());
  EXPECT_DOUBLE_EQ(r.union_share, 0.6);           // 0 1 2 5 7 9
  EXPECT_DOUBLE_EQ(*r.overlap, 2.0 / 6);          // {1, 5} of those
  EXPECT_DOUBLE_EQ(*r.prompt_union, 0.75);        // 0 1 2 of 4
  EXPECT_DOUBLE_EQ(*r.prompt_mean, 0.5);          // 2 and 2 of 4
  // Behind the prompt 5, 5, 7, 9 of [4, 20): bins 4, 4, 12, 20, so shares 1/2, 1/4, 1/4.
  EXPECT_NEAR(*r.coverage_entropy, 1.5 * std::log(2.0) / std::log(64.0), 1e-12);
}

TEST(Retention, HeadsThatAgreeAndHeadsThatShareNothing) {
  const Retention same = measure_retention({{{3, 4}, {4, 3}, {3, 4}}, 4, 0, 8});
  EXPECT_DOUBLE_EQ(*same.overlap, 1);
  EXPECT_DOUBLE_EQ(same.union_share, 0.5);
  EXPECT_FALSE(same.prompt_union || same.prompt_mean);  // there is no prompt
  const Retention apart = measure_retention({{{0, 1, 2}, {3, 4, 5}}, 4, 0, 8});
  EXPECT_DOUBLE_EQ(*apart.overlap, 0);
  EXPECT_DOUBLE_EQ(apart.union_share, 1.5);  // more than one head has room for
}

TEST(Retention, CoverageIsOneWhenEveryBinIsKeptAlikeAndZeroInOneBin) {
  LayerKept all{{{}}, 128, 16, 16 + 128};
  for (int p = 16; p < 144; ++p) all.heads[0].push_back(p);
  EXPECT_NEAR(*measure_retention(all).coverage_entropy, 1, 1e-12);
  EXPECT_DOUBLE_EQ(*measure_retention({{{16, 17}}, 128, 16, 144}).coverage_entropy, 0);
  EXPECT_FALSE(measure_retention({{{1, 2}}, 128, 16, 144}).coverage_entropy);  // nothing behind the prompt
  EXPECT_FALSE(measure_retention(all).overlap);                               // one head has no pairs
}

// K = 2 candidates and a buffer of 2.
EvictionRecord record(int64_t eviction, int layer, int head, std::vector<int32_t> candidates) {
  const int64_t seen = 6 + 2 * eviction;
  EvictionRecord r{.layer = layer,
                   .kv_head = head,
                   .eviction = eviction,
                   .seen = seen,
                   .candidates = 4,
                   .buffer = 2,
                   .prompt_tokens = 1,
                   .kept = candidates};
  for (int64_t p = seen - 2; p < seen; ++p) r.kept.push_back(static_cast<int32_t>(p));
  return r;
}

TEST(Retention, RecordsAreGroupedAndTheBufferIsLeftOut) {
  const std::vector<EvictionRecord> records = {record(1, 0, 1, {0, 3}), record(0, 0, 0, {0, 1}),
                                               record(0, 0, 1, {0, 2}), record(1, 0, 0, {0, 3})};
  const std::vector<RetentionRow> rows = retention_of(records);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].eviction, 0);
  EXPECT_EQ(rows[1].seen, 8);
  EXPECT_DOUBLE_EQ(*rows[0].retention.overlap, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*rows[1].retention.overlap, 1);
  EXPECT_DOUBLE_EQ(rows[0].retention.union_share, 0.75);
  EXPECT_DOUBLE_EQ(*rows[0].retention.prompt_mean, 1);
  const Retention mean = mean_retention(rows);
  EXPECT_DOUBLE_EQ(*mean.overlap, 2.0 / 3);
  EXPECT_DOUBLE_EQ(mean.union_share, 0.625);
}

// A head that holds one value has nothing to compare, and does not count.
TEST(Retention, ValueSimilarityIsAMeanOverHeadsThenOverRows) {
  std::vector<EvictionRecord> records = {record(0, 0, 0, {0, 1}), record(0, 0, 1, {0, 2}), record(1, 0, 0, {0, 3}),
                                         record(1, 0, 1, {0, 3}), record(2, 0, 0, {0, 3}), record(2, 0, 1, {0, 3})};
  records[0].value_similarity = 0.2;
  records[1].value_similarity = 0.4;
  records[2].value_similarity = 0.7;
  const std::vector<RetentionRow> rows = retention_of(records);
  EXPECT_DOUBLE_EQ(*rows[0].retention.value_similarity, 0.3);
  EXPECT_DOUBLE_EQ(*rows[1].retention.value_similarity, 0.7);
  EXPECT_FALSE(rows[2].retention.value_similarity);
  EXPECT_DOUBLE_EQ(*mean_retention(rows).value_similarity, 0.5);
}

TEST(Retention, LayersAndPeriodsAreMeans) {
  std::vector<RetentionRow> rows;
  for (int64_t eviction = 0; eviction < 25; ++eviction) {
    for (int layer = 0; layer < 2; ++layer) {
      rows.push_back({.eviction = eviction, .layer = layer, .seen = 100 + eviction, .retention = {}});
      rows.back().retention.union_share = static_cast<double>(eviction) + 100 * layer;
    }
  }
  const std::vector<LayerRetention> layers = layers_of(rows);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].layer, 1);
  EXPECT_DOUBLE_EQ(layers[1].mean.union_share, 112);
  const std::vector<RetentionPeriod> periods = periods_of(rows);
  ASSERT_EQ(periods.size(), 10u);
  EXPECT_EQ(periods[0].first, 0);
  EXPECT_EQ(periods[0].last, 1);
  EXPECT_EQ(periods[9].last, 24);
  EXPECT_EQ(periods[9].seen, 124);
  EXPECT_DOUBLE_EQ(periods[0].mean.union_share, 50.5);
  EXPECT_EQ(periods_of(std::span(rows).first(6)).size(), 3u);
}

TEST(Retention, IncompleteAndContradictoryRecords) {
  EXPECT_THROW(retention_of(std::vector{record(0, 0, 0, {0, 1}), record(0, 0, 0, {0, 1})}), Error);
  EXPECT_THROW(retention_of(std::vector{record(0, 0, 0, {0, 1}), record(0, 0, 1, {0, 1}), record(0, 1, 1, {0, 1})}),
               Error);
  std::vector<EvictionRecord> differ = {record(0, 0, 0, {0, 1}), record(0, 0, 1, {0, 1})};
  differ[1].prompt_tokens = 3;
  EXPECT_THROW(retention_of(differ), Error);
}

class EvictionLog : public testing::Test {
 protected:
  ~EvictionLog() override { std::remove(path_.c_str()); }
  std::string refusal(const std::string& text) const {
    std::ofstream(path_) << text;
    try {
      read_eviction_log(path_);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
  std::string path_ = test::temporary_path(".jsonl");
};

TEST_F(EvictionLog, ComesBackAsItWasWritten) {
  EvictionRecord written = record(3, 1, 2, {0, 5});
  written.value_similarity = 0.125;
  std::ofstream(path_) << eviction_log_line(written);
  const std::vector<EvictionRecord> read = read_eviction_log(path_);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(eviction_log_line(read[0]), eviction_log_line(written));
  EXPECT_EQ(read[0].kept, (std::vector<int32_t>{0, 5, 10, 11}));
  EXPECT_EQ(read[0].value_similarity, 0.125);
}

// Logs of before had no similarity.
TEST_F(EvictionLog, SimilarityMayBeMissing) {
  std::string line = eviction_log_line(record(0, 0, 0, {0, 1}));
  const std::string part = ",\"value_similarity\":null";
  for (const std::string text : {line, line.erase(line.find(part), part.size())}) {
    std::ofstream(path_) << text;
    EXPECT_FALSE(read_eviction_log(path_)[0].value_similarity) << text;
  }
}

TEST_F(EvictionLog, NamesTheLineAndWhatIsWrong) {
  const std::string good = eviction_log_line(record(0, 0, 0, {0, 1}));
  const std::string next = eviction_log_line(record(0, 0, 1, {0, 1}));  // of the other head
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string line = next;
    return good + line.replace(line.find(from), from.size(), to);
  };
  EXPECT_NE(refusal("").find("holds no eviction"), std::string::npos);
  EXPECT_THROW(read_eviction_log("/tmp"), Error) << "a folder is no empty log";
  EXPECT_NE(refusal(good + "{").find("line 2: this is no JSON"), std::string::npos);
  for (const char* line : {"[]", "7", "null", "\"seen\""})
    EXPECT_NE(refusal(line).find("line 1: this is no JSON object;"), std::string::npos) << line;
  EXPECT_NE(refusal(with("[0,1,4,5]", "5")).find("line 2: kept is no list"), std::string::npos);
  EXPECT_NE(refusal(good + next + good + next).find(path_ + ", line 3: eviction 0, layer 0, head 0 is in line 1 as well"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(100000, '[')).find("this is no JSON"), std::string::npos);
  EXPECT_NE(refusal(std::string(1000, '[') + std::string(1000, ']')).find("this is no JSON"), std::string::npos);
  EXPECT_NE(refusal(with("\"seen\"", "\"sean\"")).find("line 2: the field 'seen' is missing"), std::string::npos);
  EXPECT_NE(refusal(with("\"layer\":0", "\"layer\":1e300")).find("layer is no whole number"), std::string::npos);
  EXPECT_NE(refusal(with("\"layer\":0", "\"layer\":-1")).find("layer is no whole number"), std::string::npos);
  for (const char* number : {"1.5", "-0.1", "\"high\""}) {
    EXPECT_NE(refusal(with("\"value_similarity\":null", std::string("\"value_similarity\":") + number))
                  .find("line 2: value_similarity is no number from 0 to 1"), std::string::npos) << number;
  }
  EXPECT_NE(refusal(with("[0,1,", "[0,0,")).find("position twice"), std::string::npos);
  EXPECT_NE(refusal(with("[0,1,", "[0,9,")).find("outside of what was seen"), std::string::npos);
  EXPECT_NE(refusal(with("[0,1,4,5]", "[4,1,0,5]")).find("does not end with the buffer"), std::string::npos);
  EXPECT_NE(refusal(with("\"candidates\":4", "\"candidates\":1")).find("more than the candidates"), std::string::npos);
  EXPECT_NE(refusal(with("\"buffer\":2", "\"buffer\":4")).find("no more than the buffer"), std::string::npos);
}

}  // namespace
}  // namespace vase::eval
