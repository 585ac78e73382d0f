#include "end_to_end/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

class Runner : public testing::Test {
 protected:
  // Prompt processing and generation, beyond what the budget holds.
  BenchOptions options() {
    BenchOptions o;
    o.model_path = model_.path();
    o.grid = {.tests = {{true, 40}, {false, 32}},
              .depths = {100},
              .batches = {2},
              .threads = {1},
              .budgets = {64},
              .policies = {{"vase-attnv", "vase-attnv"}},
              .chunks = {24},
              .cache = {.buffer = 16}};
    o.repeats = 2;
    o.on_piece = [this](const std::string&) { ++pieces_; };
    o.on_row = [this](const Row& row) { rows_.push_back(row); };
    return o;
  }

  test::TinyModel model_;
  size_t pieces_ = 0;
  std::vector<Row> rows_;
};

TEST_F(Runner, MeasuresEveryTest) {
  Bench bench(options());
  EXPECT_TRUE(bench.run());
  EXPECT_EQ(pieces_, bench.pieces());
  ASSERT_EQ(rows_.size(), 2u);
  const Row &prompt = rows_[0], &generation = rows_[1];
  EXPECT_EQ(prompt.what.test.name(), "pp40");
  EXPECT_EQ(prompt.tokens_per_s.size(), 2u);
  EXPECT_EQ(prompt.first_token_s.size(), 2u);
  EXPECT_EQ(prompt.seen, 140);
  EXPECT_TRUE(prompt.step_s.empty());
  EXPECT_TRUE(prompt.limit_fractions.empty());

  EXPECT_EQ(generation.what.test.name(), "tg32");
  EXPECT_EQ(generation.seen, 132);  // every repeat begins at the depth
  EXPECT_EQ(generation.step_s.size(), 2u * 32);
  EXPECT_EQ(generation.limit_fractions.size(), 2u);
  // 100 tokens seen: 64 + 16 slots were full at 80 and 96, so 68 are held; evictions come at 112 and 128,
  // and in the second layer at 104 and 120.
  EXPECT_TRUE(generation.staggered);
  EXPECT_EQ(generation.evictions, 2 * 2);
  EXPECT_EQ(std::ranges::count(generation.step_evicts, 1), 2 * 4);
  EXPECT_TRUE(generation.step_evicts[3] && generation.step_evicts[11]);
  EXPECT_NEAR(generation.slots, 72.5, 1e-9);  // 65 to 80, each as often
  EXPECT_GT(generation.scoring_s, 0);
  EXPECT_GT(generation.compaction_s, 0);
  EXPECT_LT(generation.scoring_s + generation.compaction_s, generation.timed_s);
  EXPECT_FALSE(generation.incomplete());
}

TEST_F(Runner, ThePeerTakesTurnsInBothModes) {
  BenchOptions o = options();
  o.grid.tests = {{true, 156}, {false, 32}};  // the prompt fills libllama's context of 256 to its end
  o.peer_flash = o.peer_plain = true;
  o.peer_tokens = 3;
  Bench bench(o);
  EXPECT_TRUE(bench.run());
  EXPECT_EQ(pieces_, bench.pieces());
  for (const Row& row : rows_) {
    ASSERT_EQ(row.ratios.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_DOUBLE_EQ(row.ratios[i], row.tokens_per_s[i] / std::max(row.peer_flash[i], row.peer_plain[i]));
    }
  }
}

TEST_F(Runner, ThePeerWorksAtDepthZeroAndWithManySequences) {
  for (const int depth : {0, 300}) {
    BenchOptions o = options();
    o.repeats = 1;
    o.grid.depths = {depth};
    o.grid.batches = {1, 5};
    o.peer_plain = true;
    EXPECT_TRUE(Bench(o).run()) << depth;
  }
  EXPECT_EQ(rows_.size(), 2u * 2 * 2);
  EXPECT_TRUE(rows_[0].peer_flash.empty());
}

TEST_F(Runner, AStopKeepsWholeRepeats) {
  BenchOptions o = options();
  o.grid.tests = {{false, 32}};
  o.repeats = 3;
  int asked = 0;
  o.stop = [&] { return ++asked > 50; };  // in the second repeat
  EXPECT_FALSE(Bench(o).run());
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_TRUE(rows_[0].incomplete());
  EXPECT_EQ(rows_[0].tokens_per_s.size(), 1u);
  EXPECT_EQ(rows_[0].step_s.size(), 32u);
}

TEST_F(Runner, PredictionsNameWhatTheyAreMadeOf) {
  BenchOptions o = options();
  o.predict = true;
  Bench bench(o);
  EXPECT_TRUE(bench.run());
  EXPECT_EQ(pieces_, bench.pieces());
  EXPECT_FALSE(rows_[0].prediction);  // of prompts
  ASSERT_TRUE(rows_[1].prediction);
  const Prediction& p = *rows_[1].prediction;
  EXPECT_EQ(p.slots, 72.5);
  ASSERT_EQ(p.tokens_per_s.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(p.calibrations[i].batch, 2);
    EXPECT_EQ(p.calibrations[i].read_gb_per_s, rows_[1].read_gb_per_s[i]);
    EXPECT_DOUBLE_EQ(p.tokens_per_s[i],
                     CostModel(rows_[1].step_bytes, p.calibrations[i]).tokens_per_s(2, 72.5));
  }
}

TEST_F(Runner, ASweepFindsTheLargestBatchThatFits) {
  BenchOptions o = options();
  o.grid.tests = {{false, 2}};
  o.grid.budgets = {64, 128};
  o.grid.policies = {{"full", "full"}, {"vase-attnv", "vase-attnv"}};
  o.repeats = 1;
  o.sweep_bytes = uint64_t(12) << 20;
  EXPECT_TRUE(Bench(o).run());
  ASSERT_EQ(rows_.size(), 3u);
  for (const Row& row : rows_) {
    ASSERT_GT(row.what.batch, 0);
    const auto bytes = [](const Row& r) { return r.weight_bytes + r.memory.bytes() + r.compute_bytes; };
    EXPECT_LE(bytes(row), o.sweep_bytes);
    // One more sequence, in a grid of its own.
    BenchOptions more = o;
    more.grid.budgets = {row.what.cache.budget};
    more.grid.policies = {{row.what.name, row.what.policy}};
    more.grid.batches = {row.what.batch + 1};
    more.sweep_bytes = 0;
    std::optional<Row> larger;
    more.on_row = [&](const Row& r) { larger = r; };
    EXPECT_TRUE(Bench(more).run());
    EXPECT_GT(bytes(*larger), o.sweep_bytes);
  }
  EXPECT_GT(rows_[1].what.batch, rows_[2].what.batch);  // the smaller budget holds more sequences
}

TEST_F(Runner, ASweepSaysWhereNothingFits) {
  BenchOptions o = options();
  o.sweep_bytes = 1 << 20;
  EXPECT_TRUE(Bench(o).run());
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0].what.batch, 0);
  EXPECT_TRUE(rows_[0].tokens_per_s.empty());
  EXPECT_FALSE(rows_[0].incomplete());
}

TEST_F(Runner, EveryPolicyCanBeTimed) {
  for (const char* policy :
       {"full", "quest", "r-kv", "snapkv", "vase-dkv", "snapkv share=layer", "snapkv share=model"}) {
    BenchOptions o = options();
    o.grid.policies = {{policy, policy}};
    o.repeats = 1;
    rows_.clear();
    EXPECT_TRUE(Bench(o).run()) << policy;
    EXPECT_EQ(rows_.size(), 2u) << policy;
  }
}

TEST_F(Runner, RefusesWhatMemoryDoesNotHold) {
  BenchOptions o = options();
  o.grid.policies = {{"full", "full"}};
  o.grid.depths = {1 << 20};
  o.grid.batches = {256};
  EXPECT_THROW(Bench{o}, Error);
  o = options();
  o.peer_flash = true;
  o.grid.depths = {1 << 20};
  o.grid.batches = {256};
  EXPECT_THROW(Bench{o}, Error);
}

}  // namespace
}  // namespace vase::bench
