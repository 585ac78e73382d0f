// Memory: what is printed is what is allocated, and nothing grows with the text.
#include "vase/memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine_helpers.h"
#include "engine/engine_plan.h"
#include "engine/probe_policy.h"
#include "support/resident.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase {
namespace {

using test::TinyModel;
using test::TinyOptions;

// Resident memory after 20,000 tokens is within 1 MiB of that after 500, for a short prompt and for one of ten times
// the budget.
TEST(Memory, ResidentSizeIsFlat) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer's own memory grows";
  const TinyModel file{TinyOptions{.layers = 2, .query_heads = 2, .kv_heads = 1, .head_dim = 32, .feed_forward = 64}};
  test::settle_heap();
  const auto model = Model::load(file.path());
  for (int prompt : {10, 2560}) {
    Engine engine(model, Policy::parse("vase-attnv"), {.budget = 256, .buffer = 64}, {.threads = 2});
    EXPECT_LE(test::growth_kib(engine, test::tiny_text(prompt), 20000), 1024) << "prompt of " << prompt;
  }
}

void expect_plan_is_allocation(const ModelShape& shape, const Policy& policy, const CacheOptions& cache) {
  const EnginePlan plan = plan_engine(shape, policy, cache, {.sequences = 3, .threads = 2});
  SlotCache slots(plan.cache, false);
  EvictingAttention attention(slots, plan.attention);
  const MemoryPlan& memory = plan.memory;
  EXPECT_EQ(slots.bytes() + attention.scratch_bytes(), memory.bytes());
  EXPECT_EQ(slots.bytes(), memory.sequence_bytes(memory.capacity) * 3 + memory.unused);
  // The formula of docs/layouts.md, written out.
  const uint64_t rows = uint64_t(memory.capacity - memory.recent) * (memory.key_row + memory.value_row) +
                        uint64_t(memory.recent) * (memory.recent_key_row + memory.recent_value_row);
  EXPECT_EQ(memory.bytes(), 3 * 2 * (rows + uint64_t(memory.capacity) * memory.metadata + memory.query_ring) * 3 +
                                memory.unused + memory.summaries + memory.scratch);
}

// The formula against the sizes of what is really allocated.
TEST(Memory, PlannedBytesAreAllocatedBytes) {
  ModelShape shape{.layers = 3, .query_heads = 8, .kv_heads = 2, .trained_context = 4096};
  for (const char* name : {"full", "vase", "vase-dkv-weighted", "vase-attnv", "vase-dkv", "curdkv", "snapkv", "random",
                           "random-prompt"}) {
    const Policy policy = Policy::parse(name);
    for (const RowType k : kCacheTypes) {
      for (const RowType v : kCacheTypes) {
        SCOPED_TRACE(name + (", " + row_types_name(k, v)));
        shape.head_dim = is_quantised(k) || is_quantised(v) ? 96 : 80;
        const CacheOptions cache{.budget = 300, .buffer = 64, .key_type = k, .value_type = v};
        expect_plan_is_allocation(shape, policy, cache);
        if (!policy.evicts()) continue;
        CacheOptions pyramid = cache;
        pyramid.layer_budgets = LayerBudgets::kPyramid;
        expect_plan_is_allocation(shape, policy, pyramid);
      }
    }
  }
}

// Every record, query rings, log-weights, heads that share, periods and positions of the cache are counted.
TEST(Memory, EverythingThatAPolicyNeedsIsCounted) {
  const ModelShape shape{.layers = 3, .query_heads = 8, .kv_heads = 2, .head_dim = 80, .trained_context = 4096};
  const auto log = std::make_shared<test::ProbeLog>();
  const PolicyNeeds all_needs[] = {{.attention = AttentionRecord::kLifetimeSum, .queries = 9},
                                   {.attention = AttentionRecord::kWindowMax, .temperature = 2, .norm_product = true, .log_weight = true},
                                   {.attention = AttentionRecord::kRecurrence, .value_range = true, .queries = 64}};
  for (const PolicyNeeds& needs : all_needs) {
    for (const Share share : {Share::kHead, Share::kLayer, Share::kModel}) {
      if (share != Share::kHead && needs.log_weight) continue;
      const Policy policy = test::probe_policy(needs, log, share);
      const CacheOptions options{.budget = 300, .buffer = 64, .period = 20, .positions = Positions::kCache};
      const EnginePlan plan = plan_engine(shape, policy, options, {.sequences = 3, .threads = 2});
      SlotCache cache(plan.cache, false);
      EvictingAttention attention(cache, plan.attention);
      EXPECT_EQ(cache.bytes() + attention.scratch_bytes(), plan.memory.bytes());
      EXPECT_EQ(plan.memory.query_bytes(), size_t(3) * 3 * 2 * needs.queries * 4 * 80 * 4);
      EXPECT_EQ(plan.memory.formula().find("queries") != std::string::npos, needs.queries > 0) << plan.memory.formula();
    }
  }
}

// Field report 29: the saving of grouped heads is kept. 36 layers, 8 KV heads, 1024 + 128 slots, f16 rows: 162 MiB.
TEST(Memory, GroupedHeadsAreNotExpanded) {
  const ModelShape shape{.layers = 36, .query_heads = 32, .kv_heads = 8, .head_dim = 128};
  const MemoryPlan plan = plan_memory(shape, Policy::parse("random"), {.budget = 1024, .buffer = 128}, {});
  EXPECT_EQ(uint64_t(plan.layers) * plan.kv_heads * plan.capacity * (plan.key_row + plan.value_row), 169869312u);
  EXPECT_LE(plan.metadata, 20);
}

// Field report 34: the number of MiB is never exceeded, and not wasted either.
TEST(Memory, BudgetInMib) {
  const ModelShape shape{.layers = 36, .query_heads = 32, .kv_heads = 8, .head_dim = 128};
  for (const char* name : {"vase-attnv", "vase-dkv", "random"}) {
    for (const auto& [mib, sequences] : {std::pair{64.0, 1}, {100.5, 1}, {400.0, 4}, {1000.0, 4}}) {
      {
        const Policy policy = Policy::parse(name);
        const EngineOptions engine{.sequences = sequences, .threads = 2};
        const MemoryPlan plan = plan_memory(shape, policy, {.budget_mib = mib}, engine);
        EXPECT_LE(plan.bytes(), mib * 1048576);
        const MemoryPlan more = plan_memory(shape, policy, {.budget = plan.budget + 1}, engine);
        EXPECT_GT(more.bytes(), mib * 1048576) << "a larger budget would have fitted";
      }
    }
  }
  const MemoryPlan full =
      plan_memory({.layers = 4, .query_heads = 4, .kv_heads = 4, .head_dim = 64, .trained_context = 8192},
                  Policy::parse("full"), {.budget_mib = 2}, {.threads = 1});
  EXPECT_LE(full.bytes(), 2u << 20);
  EXPECT_LT(full.capacity, 8192);
}

TEST(Memory, DensePrefillSaysWhatItCosts) {
  const ModelShape shape{.layers = 2, .query_heads = 4, .kv_heads = 2, .head_dim = 64};
  const MemoryPlan plan =
      plan_memory(shape, Policy::parse("vase-attnv"),
                  {.budget = 256, .buffer = 64, .prefill = Prefill::kDense, .max_prompt = 5000}, {});
  EXPECT_EQ(plan.capacity, 5064);
}

TEST(Memory, FormulaNamesItsTerms) {
  const ModelShape shape{.layers = 30, .query_heads = 9, .kv_heads = 3, .head_dim = 64};
  const MemoryPlan plan = plan_memory(shape, Policy::parse("vase-attnv"), {.budget = 256}, {.threads = 1});
  EXPECT_NE(
      plan.formula().find("30 layers x 3 KV heads x 320 slots (256 + 64) x (128 K + 128 V + 16 meta) B x 1 sequence"),
      std::string::npos)
      << plan.formula();
}

}  // namespace
}  // namespace vase
