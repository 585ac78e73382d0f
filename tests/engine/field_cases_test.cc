// What breaks in comparable software, tried on this engine: short prompts, endless texts, many requests, positions
// beyond training, every preset, every combination of cache type and family.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/resident.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase {
namespace {

using test::TinyModel;
using test::TinyOptions;

const char* const kPolicies[] = {"vase",   "vase-attnv", "vase-dkv",      "vase-dkv-weighted", "curdkv",
                                 "snapkv", "random",     "random-prompt", "h2o"};

SessionOptions options(int max_tokens) {
  SessionOptions o;
  o.max_tokens = max_tokens;
  o.ignore_eos = true;
  return o;
}

std::vector<int32_t> generate(Engine& engine, std::vector<int32_t> prompt, int max_tokens) {
  const auto session = engine.submit(std::move(prompt), options(max_tokens));
  while (engine.step({}) > 0) {
  }
  EXPECT_EQ(session->generated_tokens(), max_tokens) << finish_name(session->finish());
  return {session->generated().begin(), session->generated().end()};
}

// Prompts shorter than the buffer: nothing is evicted, and nothing differs from the full cache.
TEST(FieldCases, PromptShorterThanTheBuffer) {
  const TinyModel file;
  const auto model = Model::load(file.path());
  for (const int prompt : {1, 3}) {
    Engine full(model, Policy::parse("full"), {.context = 100}, {.threads = 1});
    const auto want = generate(full, test::tiny_text(prompt), 20);
    for (const char* policy : kPolicies) {
      Engine engine(model, Policy::parse(policy), {.budget = 64, .buffer = 32}, {.threads = 1});
      EXPECT_EQ(generate(engine, test::tiny_text(prompt), 20), want) << policy;
    }
  }
}

// Every preset runs for three times its capacity, over rows of both types.
TEST(FieldCases, EveryPresetRuns) {
  const TinyModel file{TinyOptions{.query_heads = 4, .kv_heads = 2, .head_dim = 32}};
  const auto model = Model::load(file.path());
  for (const PolicyInfo& preset : Policy::presets()) {
    SCOPED_TRACE(preset.name);
    Engine engine(model, Policy::parse(preset.name),
                  {.budget = 40, .buffer = 16, .key_type = RowType::kF16, .value_type = RowType::kF32, .context = 200},
                  {.threads = 1});
    const auto session = engine.submit(test::tiny_text(5), options(3 * 56));
    while (engine.step({}) > 0) {
    }
    const Counters c = session->counters();
    EXPECT_EQ(c.tokens_seen, 5 + 3 * 56 - 1);
    EXPECT_EQ(c.slots_used, Policy::parse(preset.name).evicts() ? 40 + (c.tokens_seen - 40) % 16 : c.tokens_seen);
    EXPECT_EQ(engine.nonfinite_scores(), 0u);
  }
}

// Every cache type and family, with each kind of policy: three times the capacity, with finite numbers all the way.
TEST(FieldCases, EveryCombinationRuns) {
  for (const char* family : {"llama", "qwen2", "qwen3"}) {
    const TinyModel file{TinyOptions{.family = family, .query_heads = 2, .kv_heads = 1, .head_dim = 32}};
    const auto model = Model::load(file.path());
    for (const char* policy : kPolicies) {
      for (const RowType keys : kCacheTypes) {
        for (const RowType values : kCacheTypes) {
          SCOPED_TRACE(std::string(family) + ", " + policy + ", " + row_types_name(keys, values));
          Engine engine(model, Policy::parse(policy),
                        {.budget = 40, .buffer = 16, .key_type = keys, .value_type = values}, {.threads = 1});
          engine.set_on_logits([](Session&, int64_t position, std::span<const float> row) {
            ASSERT_TRUE(std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) << "position " << position;
          });
          const auto session = engine.submit(test::tiny_text(5), options(3 * 56));
          while (engine.step({}) > 0) {
          }
          const Counters c = session->counters();
          EXPECT_EQ(session->generated_tokens(), 3 * 56) << finish_name(session->finish());
          EXPECT_EQ(c.tokens_seen, 5 + 3 * 56 - 1);
          EXPECT_EQ(c.slots_used, 40 + (c.tokens_seen - 40) % 16);
          EXPECT_EQ(c.evictions, 1 + (c.tokens_seen - 56) / 16);
          EXPECT_EQ(engine.nonfinite_scores(), 0u);
          EXPECT_EQ(engine.weightless_draws(), 0u);
        }
      }
    }
  }
}

// Far beyond the positions of training: finite logits, whatever the text is worth.
TEST(FieldCases, BeyondTheTrainedContext) {
  for (const char* scaling : {"", "linear", "yarn"}) {
    TinyOptions tiny{.context = 256};
    tiny.rope_scaling = scaling;
    if (*scaling) tiny.rope_original_context = 64;
    const TinyModel file{tiny};
    const auto model = Model::load(file.path());
    EXPECT_EQ(model->shape().trained_context, 256);
    Engine engine(model, Policy::parse("vase-attnv"), {.budget = 96, .buffer = 32}, {.threads = 1});
    int rows = 0;
    engine.set_on_logits([&](Session&, int64_t, std::span<const float> row) {
      ++rows;
      for (float x : row) ASSERT_TRUE(std::isfinite(x));
    });
    generate(engine, test::tiny_text(8), 1000);
    EXPECT_EQ(rows, 1000);
  }
}

// Fifty times the capacity, then a second turn on the same sequence.
TEST(FieldCases, CountersOfALongTextAndASecondTurn) {
  const TinyModel file;
  Engine engine(Model::load(file.path()), Policy::parse("random"), {.budget = 24, .buffer = 8}, {.threads = 1});
  for (int turn = 0; turn < 2; ++turn) {
    const auto session = engine.submit(test::tiny_text(10), options(50 * 32));
    while (engine.step({}) > 0) {
      const Counters c = session->counters();
      ASSERT_GE(c.evicted, 0);
      ASSERT_LT(c.slots_used, 32);
      ASSERT_EQ(c.evicted + c.slots_used, c.tokens_seen);
    }
    EXPECT_EQ(session->counters().tokens_seen, 10 + 50 * 32 - 1);
  }
}

// 300 requests of 2,000 tokens over two sequences leave resident memory where it was after the first ten.
TEST(FieldCases, ManyRequestsDoNotRatchetMemory) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer's own memory grows";
  test::settle_heap();
  const TinyModel file{TinyOptions{.layers = 1, .query_heads = 1, .kv_heads = 1, .head_dim = 32, .feed_forward = 32}};
  Engine engine(Model::load(file.path()), Policy::parse("vase-attnv"), {.budget = 256, .buffer = 64},
                {.sequences = 2, .threads = 1});
  long early = 0;
  int done = 0;
  for (int i = 0; i < 300; ++i) engine.submit(test::tiny_text(1000, i), options(1000));
  while (engine.step([&](Session& s, std::string_view) {
    if (s.finish() != Finish::kRunning && ++done == 10) early = test::resident_kib();
  }) > 0) {
  }
  EXPECT_EQ(done, 300);
  EXPECT_LT(test::resident_kib() - early, 2048);
}

}  // namespace
}  // namespace vase
