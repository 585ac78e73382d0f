// The same tokens whatever the threads, the neighbours in the batch, or the way they are fed; on all families.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/engine_helpers.h"

namespace vase {
namespace {

using test::kept_of;
using test::kPolicies;
using test::Listener;
using test::options;
using test::run_all;
using test::TinyModel;
using test::TinyOptions;
using test::tokens_of;

class EngineFamilies : public testing::TestWithParam<const char*> {
 protected:
  TinyModel file_{TinyOptions{.family = GetParam(), .query_heads = 6, .kv_heads = 3, .head_dim = 32}};
  std::shared_ptr<const Model> model_ = Model::load(file_.path());
  const CacheOptions cache_{.budget = 48, .buffer = 16};
};

// Same seeds, same text and kept sets: with 1 and 2 threads, alone, and in a batch of 5 whose others join and leave.
TEST_P(EngineFamilies, SameTextAloneAndInABatch) {
  for (const char* name : kPolicies) {
    const Policy policy = Policy::parse(name);
    const auto prompt = test::tiny_text(70, 5);
    std::vector<int32_t> want;
    std::vector<std::vector<int32_t>> want_kept;
    for (int threads : {1, 2}) {
      Engine alone(model_, policy, cache_,
                   {.threads = threads, .chunk = threads == 1 ? 256 : 24, .log_evictions = true});
      Listener listener;
      const auto s = alone.submit(prompt, options(120));
      run_all(alone, listener);
      ASSERT_EQ(s->generated_tokens(), 120);
      if (want.empty()) {
        want = tokens_of(*s);
        want_kept = kept_of(*s);
        ASSERT_FALSE(want_kept.empty());
      }
      EXPECT_EQ(tokens_of(*s), want) << name << " threads " << threads;
      EXPECT_EQ(kept_of(*s), want_kept) << name << " threads " << threads;
    }
    Engine batch(model_, policy, cache_, {.sequences = 5, .threads = 2, .chunk = 64, .log_evictions = true});
    Listener listener;
    std::vector<std::shared_ptr<Session>> others;
    others.push_back(batch.submit(test::tiny_text(200, 9), options(30, 11, 12)));
    for (int i = 0; i < 3; ++i) batch.step(listener.callback());
    const auto s = batch.submit(prompt, options(120));
    for (int i = 0; i < 8; ++i) {  // more than fit: they join as others leave
      others.push_back(batch.submit(test::tiny_text(3 + 40 * i, 20 + i), options(10 + 13 * i, 30 + i, 40 + i)));
    }
    run_all(batch, listener);
    EXPECT_EQ(tokens_of(*s), want) << name << " in a batch";
    EXPECT_EQ(kept_of(*s), want_kept) << name << " in a batch";
    for (const auto& other : others) EXPECT_EQ(other->finish(), Finish::kMaxTokens);
  }
}

// I1: without an eviction every policy gives the logits of the full cache, bit for bit.
TEST_P(EngineFamilies, NoEvictionIsTheFullCache) {
  const auto text = test::tiny_text(60);
  const auto logits = [&](const char* name) {
    std::vector<float> all;
    Engine engine(model_, Policy::parse(name), {.budget = 64, .buffer = 16, .context = 200},
                  {.threads = 2, .logit_rows = 16});
    engine.force(text, 10, options(1), [&](int64_t, std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    return all;
  };
  const auto want = logits("full");
  EXPECT_EQ(want.size(), 60 * static_cast<size_t>(model_->shape().vocabulary));
  for (const char* name : kPolicies) EXPECT_EQ(logits(name), want) << name;
}

// Field report 38: the same tokens in chunks and one by one, over several evictions.
TEST_P(EngineFamilies, ForcingInChunksEqualsOneByOne) {
  const auto text = test::tiny_text(200);
  for (const char* name : kPolicies) {
    std::vector<std::vector<float>> runs;
    for (int rows : {1, 4, 50}) {
      Engine engine(model_, Policy::parse(name), cache_, {.threads = 2, .logit_rows = rows});
      std::vector<float> all;
      const auto keep = [&](int64_t, std::span<const float> row) { all.insert(all.end(), row.begin(), row.end()); };
      const Counters c = engine.force(text, 20, options(1), keep).counters;
      EXPECT_EQ(c.tokens_seen, 200);
      EXPECT_EQ(c.slots_used, 48 + (200 - 48) % 16);
      EXPECT_EQ(c.evicted, 200 - c.slots_used);
      runs.push_back(std::move(all));
    }
    for (int i : {1, 2}) {
      double largest = 0;
      for (size_t j = 0; j < runs[0].size(); ++j)
        largest = std::max<double>(largest, std::abs(runs[i][j] - runs[0][j]));
      EXPECT_LT(largest, 1e-4) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EngineFamilies, testing::Values("llama", "qwen2", "qwen3"));

}  // namespace
}  // namespace vase
