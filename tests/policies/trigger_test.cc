#include "policies/trigger.h"

#include <gtest/gtest.h>

#include "vase/error.h"

namespace vase {
namespace {

TEST(Trigger, GeneralFiresAtExactlyBudgetPlusBuffer) {
  for (auto [budget, buffer] : {std::pair(64, 16), std::pair(100, 48), std::pair(7, 1), std::pair(64, 63)}) {
    for (int used = 0; used < budget + buffer; ++used) {
      EXPECT_EQ(next_eviction(Trigger::kGeneral, used, budget, buffer), budget + buffer);
    }
    // After a dense prefill above it: with the next token.
    for (int used : {budget + buffer, 3 * budget + buffer}) {
      EXPECT_EQ(next_eviction(Trigger::kGeneral, used, budget, buffer), used + 1);
    }
  }
}

// The rule as it is written: n > M and n mod R == 0 after a token has been appended.
TEST(Trigger, ParityIsTheFirstMultipleOfTheBufferAboveTheBudget) {
  for (int used = 0; used < 600; ++used) {
    int n = used + 1;
    while (n <= 128 || n % 64 != 0) ++n;
    EXPECT_EQ(next_eviction(Trigger::kParity, used, 128, 64), n);
  }
}

// Runs cut at the trigger give the same evictions as single tokens do, whatever the chunk, and never pass M + R.
TEST(Trigger, RunsOfAnyLengthEvictAtTheSameTokens) {
  const int budget = 100, buffer = 48, total = 1000;
  std::vector<int> want;
  for (int chunk : {1, 7, 48, 256}) {
    std::vector<int> evictions;
    int used = 0;
    for (int seen = 0; seen < total;) {
      int run = std::min(chunk, total - seen);
      while (run > 0) {
        const int next = next_eviction(Trigger::kGeneral, used, budget, buffer), piece = std::min(run, next - used);
        used += piece, seen += piece, run -= piece;
        EXPECT_LE(used, budget + buffer);
        if (used != next) continue;
        evictions.push_back(seen);
        used = budget;
      }
    }
    if (want.empty()) want = evictions;
    EXPECT_EQ(evictions, want) << chunk;
  }
  EXPECT_EQ(want.size(), 1u + (total - budget - buffer) / buffer);
}

TEST(Trigger, ParityRefusesABudgetThatIsNoMultiple) {
  EXPECT_NO_THROW(validate_trigger(Trigger::kParity, 128, 64));
  EXPECT_NO_THROW(validate_trigger(Trigger::kGeneral, 100, 48));
  try {
    validate_trigger(Trigger::kParity, 200, 64);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "budget 200 is not a multiple of the buffer 64, which the parity trigger needs; use 192 or 256, or the "
        "general trigger");
  }
}

}  // namespace
}  // namespace vase
