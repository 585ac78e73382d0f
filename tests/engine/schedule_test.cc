// When layers evict, as numbers alone.
#include "engine/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vase {
namespace {

Schedule schedule_of(int layers, int budget, int buffer, int period, bool stagger = true) {
  return {.evicts = true,
          .budgets = std::vector<int>(layers, budget),
          .buffer = buffer,
          .period = period,
          .leads = stagger ? staggered_leads(layers, period) : std::vector<int>{}};
}

TEST(Schedule, LeadsAreSpreadEvenly) {
  EXPECT_EQ(staggered_leads(1, 64), (std::vector{0}));
  EXPECT_EQ(staggered_leads(4, 64), (std::vector{0, 16, 32, 48}));
  EXPECT_EQ(staggered_leads(5, 16), (std::vector{0, 3, 6, 9, 12}));
  EXPECT_EQ(staggered_leads(3, 1), (std::vector{0, 0, 0}));
  for (const int layers : {1, 2, 7, 30, 36, 100}) {
    for (const int period : {1, 5, 16, 64, 128}) {
      std::vector<int> count(period);
      for (const int lead : staggered_leads(layers, period)) ++count.at(lead);
      const auto [fewest, most] = std::ranges::minmax(count);
      EXPECT_EQ(most, (layers + period - 1) / period);
      EXPECT_EQ(fewest, layers / period);
    }
  }
}

TEST(Schedule, WorkedByHand) {
  const Schedule schedule = schedule_of(4, 100, 16, 64);  // leads 0, 16, 32, 48
  const Sequence sequence;
  const auto evictions = [&](int layer) {
    std::vector<int64_t> at;
    for (int64_t seen = 0; at.size() < 4; seen = at.back()) at.push_back(schedule.next_eviction(sequence, layer, seen));
    return at;
  };
  EXPECT_EQ(evictions(0), (std::vector<int64_t>{164, 228, 292, 356}));
  EXPECT_EQ(evictions(1), (std::vector<int64_t>{164, 212, 276, 340}));
  EXPECT_EQ(evictions(3), (std::vector<int64_t>{164, 180, 244, 308}));
  // C = n - R, and what the period behind has: the second period of the last layer is 16 tokens long.
  const Schedule::Run first = schedule.next_run(sequence, 3, 0, 0, 500);
  EXPECT_TRUE(first.evict);
  EXPECT_EQ(first.tokens, 164);
  EXPECT_EQ(first.candidates, 148);
  EXPECT_EQ(first.next_candidates, 100);
  const Schedule::Run second = schedule.next_run(sequence, 3, 100, 164, 500);
  EXPECT_EQ(second.tokens, 16);
  EXPECT_EQ(second.candidates, 100);
  EXPECT_EQ(second.next_candidates, 148);
  EXPECT_FALSE(schedule.next_run(sequence, 3, 100, 164, 15).evict);
}

struct Head {
  int used = 0;
  int64_t evictions = 0, first = 0, last = 0;
};

// Appends the tokens (seen, seen + tokens] as the attention does; checks every run.
void append(const Schedule& schedule, const Sequence& sequence, int layer, int tokens, Head& head) {
  const int prompt = sequence.dense_prefill ? sequence.prompt_tokens : 0;
  const int capacity = std::max(schedule.budgets[layer], prompt) + schedule.period;
  for (int64_t seen = sequence.seen; seen < sequence.seen + tokens;) {
    const Schedule::Run run =
        schedule.next_run(sequence, layer, head.used, seen, static_cast<int>(sequence.seen + tokens - seen));
    ASSERT_GT(run.tokens, 0);
    head.used += run.tokens;
    seen += run.tokens;
    ASSERT_LE(head.used, capacity);
    if (!run.evict) continue;
    ASSERT_EQ(run.candidates, head.used - schedule.buffer);
    ASSERT_GT(run.candidates, schedule.budgets[layer] - schedule.buffer) << "an eviction that drops nothing";
    if (head.evictions == 0) {
      head.first = seen;
      ASSERT_EQ(seen, std::max(schedule.budgets[layer] + schedule.period, prompt + 1));
    } else if (head.evictions == 1) {
      ASSERT_LE(seen - head.last, schedule.period);
    } else {
      ASSERT_EQ(seen - head.last, schedule.period);
    }
    head.used = schedule.budgets[layer];
    head.last = seen;
    ++head.evictions;
  }
}

// Budgets, periods and prompts at random, in chunks of any size: never above capacity, never later than without
// stagger, every period but the second exact, and what held() says is what has happened.
TEST(Schedule, EveryLayerEvictsEveryPeriod) {
  std::mt19937 rng(7);
  const auto below = [&](int n) { return static_cast<int>(rng() % n); };
  for (int round = 0; round < 300; ++round) {
    const int layers = 1 + below(12), buffer = 1 + below(40), period = buffer + below(60),
              budget = buffer + 1 + below(100);
    const Schedule schedule = schedule_of(layers, budget, buffer, period, below(4) > 0);
    Sequence sequence{.prompt_tokens = 1 + below(300), .dense_prefill = below(3) == 0};
    std::vector<Head> heads(layers);
    while (sequence.seen < 700) {
      const int tokens = 1 + below(below(2) ? 3 : 200);
      int64_t evictions = 0;
      for (int layer = 0; layer < layers; ++layer) {
        append(schedule, sequence, layer, tokens, heads[layer]);
        if (HasFatalFailure()) return;
      }
      schedule.advance(sequence, tokens);
      for (int layer = 0; layer < layers; ++layer) {
        const Schedule::Held held = schedule.held(sequence, layer, sequence.seen);
        ASSERT_EQ(held.used, heads[layer].used);
        ASSERT_EQ(held.evictions, heads[layer].evictions);
        ASSERT_EQ(held.first_eviction, heads[layer].first);
        evictions = std::max(evictions, held.evictions);
      }
      ASSERT_EQ(sequence.used, heads[0].used);
      ASSERT_EQ(sequence.evictions, heads[0].evictions);
      ASSERT_EQ(sequence.first_eviction, heads[0].first);
      ASSERT_LE(evictions, sequence.evictions + 1);
      const bool next = std::ranges::any_of(heads, [&](const Head& head) {
        const auto layer = static_cast<int>(&head - heads.data());
        return schedule.next_run(sequence, layer, head.used, sequence.seen, 1).evict;
      });
      ASSERT_EQ(schedule.evicts_next(sequence), next);
    }
  }
}

// Every step of a period does its share: no more layers than the mean, rounded up.
TEST(Schedule, NoStepEvictsMoreThanItsShare) {
  for (const auto& [layers, period] : {std::pair{30, 64}, {36, 64}, {36, 16}, {2, 8}}) {
    const Schedule schedule = schedule_of(layers, 4 * period, period, period);
    Sequence sequence;
    schedule.advance(sequence, 5 * period);
    for (int step = 0; step < 3 * period; ++step) {
      int evicting = 0;
      for (int layer = 0; layer < layers; ++layer) {
        evicting += schedule.next_eviction(sequence, layer, sequence.seen) == sequence.seen + 1;
      }
      ASSERT_LE(evicting, (layers + period - 1) / period) << "step " << step;
      schedule.advance(sequence, 1);
    }
  }
}

TEST(Schedule, WithoutEvictionEverythingIsHeld) {
  const Schedule schedule{.budgets = {50, 50}};
  Sequence sequence;
  const Schedule::Run run = schedule.next_run(sequence, 1, 0, 0, 1000);
  EXPECT_EQ(run.tokens, 1000);
  EXPECT_FALSE(run.evict);
  EXPECT_FALSE(schedule.evicts_next(sequence));
  schedule.advance(sequence, 1000);
  EXPECT_EQ(sequence.used, 1000);
  EXPECT_EQ(sequence.evictions, 0);
}

}  // namespace
}  // namespace vase
