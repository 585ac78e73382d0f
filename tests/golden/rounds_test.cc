// Several evictions in a row on our own state: exact kept slots in gather order, exact positions, exact occupancy.
#include <algorithm>
#include <numeric>

#include "golden/golden_head.h"
#include "policies/score/attention.h"
#include "policies/trigger.h"

namespace vase::golden {
namespace {

// Token positions by slot of every (batch row, KV head).
using Slots = std::vector<std::vector<int>>;

class Rounds {
 public:
  explicit Rounds(const std::string& name)
      : case_(name), draws_case_(case_.json().value("same_as", name)), budget_(case_.param("M")),
        buffer_(case_.param("R")), heads_(case_.param("H")) {
    const bool by_score = case_.json().at("params").at("gather_order") == "score";
    policy_ = Policy::parse(policy_text(case_) + (by_score ? " order=score" : ""));
    slots_.resize(case_.param("B") * heads_, std::vector<int>(case_.param("P")));
    for (auto& positions : slots_) std::iota(positions.begin(), positions.end(), 0);
  }

  void run() {
    const int prompt = case_.param("P"), steps = case_["n_attended"].shape[0];
    int used = prompt, next = next_eviction(Trigger::kParity, used, budget_, buffer_);
    for (int step = 0; step < steps; ++step) {
      for (auto& positions : slots_) positions.push_back(prompt + step);
      ++used;
      ASSERT_EQ(used, case_["n_attended"].at(step)) << "step " << step;
      if (used == next) {
        for (size_t i = 0; i < slots_.size(); ++i) evict(static_cast<int>(i), prompt + step);
        ++eviction_;
        used = budget_;
        next = next_eviction(Trigger::kParity, used, budget_, buffer_);
      }
      ASSERT_EQ(used, case_["n_after"].at(step)) << "step " << step;
    }
    EXPECT_EQ(eviction_, case_["kept_slots"].shape[0]);
  }

 private:
  void evict(int index, int token) {
    SCOPED_TRACE("eviction " + std::to_string(eviction_) + " of head " + std::to_string(index));
    const int row = index / heads_, head = index % heads_;
    const std::string prefix = "e" + std::to_string(eviction_) + ".";
    std::vector<int>& positions = slots_[index];
    const std::vector<int> candidates(positions.begin(), positions.end() - buffer_);
    const Head input(case_, row, head, candidates,
                     window_queries(case_, row, head, token - case_.param("W") + 1), RowType::kF32);
    RecordedDraws draws(draws_case_, prefix, row, head);
    check_attention(input.view(), draws, prefix, row, head);

    std::vector<uint32_t> kept(input.view().keep());
    policy_.plan(input.view(), draws, scratch_, kept);
    EXPECT_EQ(kept, case_["kept_slots"].row<uint32_t>(eviction_, row, head));

    std::vector<int> after;
    for (uint32_t slot : kept) after.push_back(positions[slot]);
    after.insert(after.end(), positions.end() - buffer_, positions.end());
    EXPECT_EQ(after, case_["pos_after"].row<int>(eviction_, row, head));
    positions = after;
  }

  void check_attention(const HeadView& view, RandomDraws& draws, const std::string& prefix, int row, int head) {
    if (!draws_case_.has(prefix + "A")) return;
    std::vector<float> score(view.candidates());
    WindowAttention(case_.flag("smooth"), kernels::Divisor::kFixed).score(view, draws, scratch_, score);
    for (int j = 0; j < view.candidates(); ++j) {
      const double want = draws_case_[prefix + "A"].at(row, head, j);
      ASSERT_NEAR(score[j], want, kTolerance * want) << j;
    }
  }

  Case case_, draws_case_;
  int budget_, buffer_, heads_;
  Policy policy_;
  PolicyScratch scratch_;
  Slots slots_;
  int eviction_ = 0;
};

// Returns how many cases ran.
int run_rounds(const std::string& prefix) {
  int checked = 0;
  for (const std::string& name : cases(prefix)) {
    SCOPED_TRACE(name);
    ++checked;
    Rounds(name).run();
  }
  return checked;
}

TEST(GoldenRounds, ScoreOrder) {
  VASE_SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(run_rounds("rounds/s1_"), 31);
}

TEST(GoldenRounds, PositionOrder) {
  VASE_SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(run_rounds("rounds/s1pos_"), 8);
}

TEST(GoldenRounds, TwoBatchRows) {
  VASE_SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(run_rounds("rounds/s2_"), 8);
}

}  // namespace
}  // namespace vase::golden
