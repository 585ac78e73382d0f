// Every eviction step of the reference for 93 combinations of budget, buffer and prompt.
#include "policies/trigger.h"

#include "golden/golden_case.h"

namespace vase::golden {
namespace {

// [step, slots attended in it] of every eviction; `used` is the number of slots at the end.
nlohmann::json evictions_of(Trigger trigger, int budget, int buffer, int steps, int& used) {
  nlohmann::json evictions = nlohmann::json::array();
  int next = next_eviction(trigger, used, budget, buffer);
  for (int step = 0; step < steps; ++step) {
    if (++used != next) continue;
    evictions.push_back({step, used});
    used = budget;
    next = next_eviction(trigger, used, budget, buffer);
  }
  return evictions;
}

TEST(GoldenTrigger, AllRows) {
  VASE_SKIP_WITHOUT_GOLDEN();
  const nlohmann::json trigger = read_json("trigger");
  EXPECT_EQ(trigger.at("rows").size(), 93u);
  for (const auto& row : trigger.at("rows")) {
    SCOPED_TRACE(row.dump());
    const int budget = row.at("M"), buffer = row.at("R"), prompt = row.at("P"), steps = row.at("steps");
    int used = prompt;
    EXPECT_EQ(evictions_of(Trigger::kParity, budget, buffer, steps, used), row.at("evictions"));
    EXPECT_EQ(used, row.at("n_final"));
    if (prompt > budget) continue;  // a dense prompt above the budget is where the two rules differ
    used = prompt;
    EXPECT_EQ(evictions_of(Trigger::kGeneral, budget, buffer, steps, used), row.at("evictions"));
  }
}

}  // namespace
}  // namespace vase::golden
