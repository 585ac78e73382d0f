// Policies that keep all KV and read a part of it per step.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/attention_driver.h"
#include "engine/engine_helpers.h"
#include "engine/reading_attention.h"
#include "policies/seer_files.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"
#include "vase/error.h"

namespace vase {
namespace {

using test::FakeModel;
using test::TinyModel;
using test::TinyOptions;

constexpr int kBlock = 4;

// Reads the blocks that a function likes best; keeps the number of each block's newest token as summary.
class ScriptedReader final : public Reader {
 public:
  using Score = std::function<float(int block, int tokens)>;
  explicit ScriptedReader(Score score, int dense_layers = 0, bool last_among_them = false)
      : score_(std::move(score)), dense_layers_(dense_layers), last_among_them_(last_among_them) {}
  int block() const override { return kBlock; }
  int dense_layers() const override { return dense_layers_; }
  int summary_floats(const ModelHeads&) const override { return 1; }
  void update(const BlockView& block, std::span<float> summary) const override {
    summary[0] = static_cast<float>(block.first + block.count - 1);
  }
  void score(const ReadView& view, std::span<float> out) const override {
    for (int b = 0; b < view.blocks; ++b) {
      EXPECT_EQ(view.summaries[b], std::min(b * kBlock + kBlock, view.tokens) - 1);
      out[b] = score_(b, view.tokens);
    }
  }
  ReadChoice choice(int budget) const override {
    return {.blocks = budget / kBlock, .last_among_them = last_among_them_, .threshold = {}};
  }
  std::string text() const override { return "scripted"; }

 private:
  Score score_;
  int dense_layers_;
  bool last_among_them_;
};

// Drives ReadingAttention with made-up q, k, v.
class ReadingDriver {
 public:
  ReadingDriver(Policy policy, int budget, int prompt)
      : policy_(std::move(policy)),
        plan_(plan_engine(fake.shape, policy_,
                          {.budget = budget, .key_type = RowType::kF32, .value_type = RowType::kF32, .context = 64},
                          {.threads = 1, .poison_free_rows = true})),
        cache_(plan_.cache, true),
        attention_(cache_, plan_.reading) {
    sequence_.prompt_tokens = prompt;
  }

  // Outputs [layer][token][query head][head_dim].
  std::vector<std::vector<float>> step(int tokens) {
    const Span span{&sequence_, 0, tokens};
    attention_.begin_step({&span, 1});
    std::vector<std::vector<float>> outputs;
    for (int layer = 0; layer < fake.shape.layers; ++layer) {
      const auto rows = [&](int what, int heads) {
        std::vector<float> all;
        for (int t = 0; t < tokens; ++t) {
          const auto row = fake.row(0, sequence_.seen + t, layer, what, heads * fake.shape.head_dim);
          all.insert(all.end(), row.begin(), row.end());
        }
        return all;
      };
      const auto q = rows(0, fake.shape.query_heads), k = rows(1, fake.shape.kv_heads),
                 v = rows(2, fake.shape.kv_heads);
      outputs.emplace_back(q.size());
      attention_.attend({layer, tokens, q.data(), k.data(), v.data(), outputs.back().data(), 0, 1});
    }
    attention_.end_step();
    sequence_.seen += tokens;
    sequence_.used += tokens;
    return outputs;
  }

  // Attention of the token at a position over some positions, in double.
  std::vector<double> expected(int layer, int query_head, int position, const std::set<int>& read) const {
    const int d = fake.shape.head_dim, kv_head = query_head / fake.shape.group();
    const auto q = fake.row(0, position, layer, 0, fake.shape.query_heads * d);
    std::vector<double> out(d, 0);
    double sum = 0;
    for (const int at : read) {
      const auto k = fake.row(0, at, layer, 1, fake.shape.kv_heads * d),
                 v = fake.row(0, at, layer, 2, fake.shape.kv_heads * d);
      double dot = 0;
      for (int c = 0; c < d; ++c) dot += double(q[query_head * d + c]) * k[kv_head * d + c];
      const double p = std::exp(dot / std::sqrt(double(d)));
      sum += p;
      for (int c = 0; c < d; ++c) out[c] += p * v[kv_head * d + c];
    }
    for (double& x : out) x /= sum;
    return out;
  }

  void expect_reads(const std::vector<std::vector<float>>& outputs, int layer, int token, int query_head, int position,
                    const std::set<int>& read) const {
    const int d = fake.shape.head_dim;
    const auto want = expected(layer, query_head, position, read);
    for (int c = 0; c < d; ++c) {
      ASSERT_NEAR(outputs[layer][(size_t(token) * fake.shape.query_heads + query_head) * d + c], want[c], 1e-4)
          << "layer " << layer << " position " << position << " head " << query_head;
    }
  }

  FakeModel fake;
  ReadingAttention& attention() { return attention_; }
  const EnginePlan& plan() const { return plan_; }
  size_t cache_bytes() const { return cache_.bytes(); }

 private:
  Policy policy_;
  EnginePlan plan_;
  SlotCache cache_;
  ReadingAttention attention_;
  Sequence sequence_;
};

std::set<int> range(int first, int end) {
  std::set<int> all;
  for (int i = first; i < end; ++i) all.insert(i);
  return all;
}

std::set<int> blocks(std::initializer_list<int> numbers, int tokens, int block = kBlock) {
  std::set<int> all;
  for (const int b : numbers) all.merge(range(b * block, std::min(b * block + block, tokens)));
  return all;
}

// Blocks of four, M = 8: two blocks by score and the last one. The first 10 tokens are the prompt.
TEST(Reading, ReadsTheChosenBlocksAndTheLast) {
  const auto likes = [](int block, int) { return block == 1 ? 3.0f : block == 0 ? 1.0f : block == 3 ? 2.0f : 0.0f; };
  ReadingDriver driver(Policy(std::make_shared<ScriptedReader>(likes)), 8, 10);
  auto out = driver.step(10);
  for (int t = 0; t < 10; ++t) driver.expect_reads(out, 1, t, 3, t, range(0, t + 1));
  out = driver.step(7);  // positions 10 .. 16
  for (int layer = 0; layer < 2; ++layer) {
    for (int head = 0; head < 4; ++head) {
      driver.expect_reads(out, layer, 0, head, 10, blocks({0, 1, 2}, 11));
      driver.expect_reads(out, layer, 1, head, 11, blocks({0, 1, 2}, 12));
      driver.expect_reads(out, layer, 2, head, 12, blocks({1, 3}, 13));  // the last block is among the two
      driver.expect_reads(out, layer, 5, head, 15, blocks({1, 3}, 16));
      driver.expect_reads(out, layer, 6, head, 16, blocks({1, 3, 4}, 17));
    }
  }
}

// A budget of less than a block: the last block is read all the same, and has room, whether it counts or not.
TEST(Reading, ABudgetWithoutABlockReadsTheLastOne) {
  for (const bool last_among_them : {false, true}) {
    const auto likes_the_first = [](int block, int) { return -float(block); };
    ReadingDriver driver(Policy(std::make_shared<ScriptedReader>(likes_the_first, 0, last_among_them)), 3, 1);
    driver.expect_reads(driver.step(10), 1, 9, 3, 9, blocks({2}, 10));
  }
}

TEST(Reading, EverythingIsReadWhileTheBudgetHoldsIt) {
  ReadingDriver driver(Policy(std::make_shared<ScriptedReader>([](int block, int) { return float(block); })), 11, 1);
  const auto out = driver.step(14);
  for (int t = 0; t < 11; ++t) driver.expect_reads(out, 0, t, 1, t, range(0, t + 1));
  driver.expect_reads(out, 0, 11, 1, 11, blocks({1, 2}, 12));
  driver.expect_reads(out, 0, 13, 1, 13, blocks({2, 3}, 14));
}

TEST(Reading, DenseLayersReadEverything) {
  ReadingDriver driver(Policy(std::make_shared<ScriptedReader>([](int block, int) { return float(block); }, 1)), 4, 1);
  const auto out = driver.step(20);
  driver.expect_reads(out, 0, 19, 2, 19, range(0, 20));
  driver.expect_reads(out, 1, 19, 2, 19, blocks({4}, 20));
}

// Quest chooses for each query head by itself, with the bounds of its own pages.
TEST(Reading, QuestAgainstAPlainReference) {
  constexpr int kPage = 2, kTokens = 30, kBudget = 9;  // four pages, the last one among them
  ReadingDriver driver(Policy::parse("read=quest:page=2"), kBudget, 3);
  const auto out = driver.step(kTokens);
  const FakeModel& fake = driver.fake;
  const int d = fake.shape.head_dim;
  std::set<std::set<int>> different;
  for (int position = kBudget; position < kTokens; ++position) {
    for (int head = 0; head < fake.shape.query_heads; ++head) {
      const auto q = fake.row(0, position, 1, 0, fake.shape.query_heads * d);
      const int last = position / kPage;
      std::vector<std::pair<double, int>> bounds;
      for (int page = 0; page < last; ++page) {
        double bound = 0;
        for (int c = 0; c < d; ++c) {
          const int at = head / fake.shape.group() * d + c;
          double best = -1e30;
          for (int t = page * kPage; t < page * kPage + kPage; ++t) {
            best = std::max(best, double(q[head * d + c]) * fake.row(0, t, 1, 1, fake.shape.kv_heads * d)[at]);
          }
          bound += best;  // the best key of a channel alone is the bound of a page
        }
        bounds.push_back({-bound, page});
      }
      std::sort(bounds.begin(), bounds.end());
      std::set<int> read = blocks({last}, position + 1, kPage);
      for (int i = 0; i < 3; ++i) read.merge(blocks({bounds[i].second}, position + 1, kPage));
      driver.expect_reads(out, 1, position, head, position, read);
      if (position == kTokens - 1) different.insert(read);
    }
  }
  EXPECT_GT(different.size(), 1u) << "heads that all read the same would prove little";
}

TEST(Reading, PlannedBytesAreAllocatedBytes) {
  const std::string gates =
      test::write_file(testing::TempDir() + "/reading_plan_gates",
                       test::SeerFile{.heads = {.layers = 2, .kv_heads = 2, .group = 2, .head_dim = 32}}.bytes());
  for (const std::string& text : {std::string("quest"), std::string("oracle-blocks"), "read=seer:gates=" + gates,
                                 "read=seer:threshold=0.1,gates=" + gates}) {
    ReadingDriver driver(Policy::parse(text), 20, 1);
    const MemoryPlan& memory = driver.plan().memory;
    EXPECT_EQ(driver.cache_bytes() + driver.attention().scratch_bytes() + driver.attention().summary_bytes(),
              memory.bytes());
    EXPECT_EQ(memory.capacity, 64) << "the context";
    EXPECT_EQ(memory.read, 20);
    EXPECT_NE(memory.formula().find("20 tokens are read"), std::string::npos) << memory.formula();
  }
  ReadingDriver quest(Policy::parse("quest"), 20, 1);  // two rows of 32 floats for each of 4 pages, 4 heads
  EXPECT_EQ(quest.plan().memory.summaries, 4u * 4 * 2 * 32 * 4);
}

TEST(Reading, AReaderThatThrowsFailsTheStepAndReadsEverything) {
  bool fails = true;
  const auto throws = [&fails](int block, int) {
    if (fails) throw std::runtime_error("no idea");
    return float(block);
  };
  ReadingDriver driver(Policy(std::make_shared<ScriptedReader>(throws)), 4, 1);
  const auto out = driver.step(12);
  EXPECT_THROW(driver.attention().rethrow_error(), std::runtime_error);
  driver.expect_reads(out, 1, 11, 0, 11, range(0, 12));
  fails = false;
  driver.expect_reads(driver.step(1), 1, 0, 0, 12, blocks({3}, 13));  // the last one is the best
  EXPECT_NO_THROW(driver.attention().rethrow_error());
}

class ReadingEngine : public testing::TestWithParam<const char*> {
 protected:
  ReadingEngine() : file_(TinyOptions{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32}) {
    test::SeerFile gates{.heads = {.layers = 2, .kv_heads = 2, .group = 2, .head_dim = 32}, .block = 8, .width = 16};
    gates_ = test::write_file(test::temporary_path(".gates"), gates.bytes());
    model_ = Model::load(file_.path());
    tokens_ = test::tiny_text(150);
  }
  ~ReadingEngine() override { std::remove(gates_.c_str()); }

  Policy policy() const {
    const std::string text = GetParam();
    return Policy::parse(text == std::string("seer") ? "read=seer:gates=" + gates_ : text);
  }

  // Logits of every position.
  std::vector<float> force(const Policy& policy, int budget, int rows, int prompt, EngineOptions options = {}) const {
    options.threads = std::max(options.threads, 1);
    options.logit_rows = rows;
    options.poison_free_rows = true;
    Engine engine(model_, policy, {.budget = budget, .context = 256}, options);
    std::vector<float> all;
    engine.force(tokens_, prompt, {}, [&](int64_t, std::span<const float> logits) {
      all.insert(all.end(), logits.begin(), logits.end());
    });
    return all;
  }

  TinyModel file_;
  std::string gates_;
  std::shared_ptr<const Model> model_;
  std::vector<int32_t> tokens_;
};

TEST_P(ReadingEngine, EqualsTheFullCacheWhenEverythingIsRead) {
  EXPECT_EQ(force(policy(), 150, 16, 20), force(Policy(), 1, 16, 20));
}

TEST_P(ReadingEngine, PromptsAreDenseAndLaterTokensAreNot) {
  const auto full = force(Policy(), 1, 16, 90), part = force(policy(), 32, 16, 90);
  const size_t vocabulary = model_->shape().vocabulary, first = 90 * vocabulary;
  EXPECT_TRUE(std::equal(full.begin(), full.begin() + first, part.begin()));
  EXPECT_FALSE(std::equal(full.begin() + first, full.end(), part.begin() + first));
  for (const float x : part) ASSERT_TRUE(std::isfinite(x));
}

TEST_P(ReadingEngine, NeitherChunksNorThreadsNorPathsMatter) {
  const auto one = force(policy(), 32, 1, 20);
  EXPECT_EQ(force(policy(), 32, 7, 20), one);
  EXPECT_EQ(force(policy(), 32, 64, 20), one);
  EXPECT_EQ(force(policy(), 32, 64, 20, {.threads = 2}), one);
  const auto reference = force(policy(), 32, 16, 20, {.path = AttentionPath::kReference});
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(reference[i], one[i], 2e-2);
}

TEST_P(ReadingEngine, NeighboursInTheBatchDoNotMatter) {
  const auto texts = [&](int sequences) {
    Engine engine(model_, policy(), {.budget = 32, .context = 256},
                  {.sequences = sequences, .threads = 2, .chunk = 24});
    std::vector<std::shared_ptr<Session>> sessions;
    for (const int prompt : {50, 3, 70}) {
      sessions.push_back(engine.submit({tokens_.begin(), tokens_.begin() + prompt}, test::options(60)));
    }
    test::Listener listener;
    test::run_all(engine, listener);
    std::vector<std::vector<int32_t>> all;
    for (const auto& session : sessions) {
      all.push_back(test::tokens_of(*session));
      EXPECT_EQ(session->counters().evicted, 0);
      EXPECT_EQ(session->counters().slots_used, session->counters().tokens_seen);
    }
    return all;
  };
  EXPECT_EQ(texts(3), texts(1));
}

INSTANTIATE_TEST_SUITE_P(All, ReadingEngine,
                         testing::Values("read=quest:page=8", "read=quest:page=8,dense_layers=1", "read=oracle:block=8",
                                         "seer"));

TEST(ReadingPlan, BadValuesAreRefusedBeforeAnythingRuns) {
  const ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 32, .trained_context = 512};
  EXPECT_THROW(plan_memory(shape, Policy::parse("quest"), {.budget = 0}, {}), Error);
  EXPECT_EQ(plan_memory(shape, Policy::parse("quest"), {}, {}).capacity, 512) << "the trained context";
  const std::string gates = test::write_file(test::temporary_path(".gates"), test::SeerFile{}.bytes());
  EXPECT_THROW(plan_memory(shape, Policy::parse("read=seer:gates=" + gates), {}, {}), Error) << "another model's";
  std::remove(gates.c_str());
  const MemoryPlan solved = plan_memory(shape, Policy::parse("quest"), {.budget_mib = 0.25}, {.threads = 1});
  EXPECT_LE(solved.bytes(), 262144u);
  EXPECT_LT(solved.capacity, 512);
}

}  // namespace
}  // namespace vase
