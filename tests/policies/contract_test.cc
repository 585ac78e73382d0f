// What must hold for every policy. A new preset joins by itself; a new part joins as a row of kCompositions.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "policies/test_head.h"

namespace vase {
namespace {

// Rows beside the presets, so that every part and every option runs.
const std::vector<std::string> kCompositions = {
    "protect=sinks:4,value:25% score=attention:divisor=fixed select=sample order=score",
    "protect=sinks:4,value:8,measure=var score=attention:smooth=off select=sample",
    "protect=value:12,measure=l2 score=attention select=top order=score",
    "protect=prompt,value:20,measure=absmax score=attention select=sample",
    "protect=sinks:2,prompt:first=5,last=3 score=leverage:sketch=off select=top",
    "protect=prompt:10% score=leverage:sketch=7,resample=off select=sample",
    "protect=random:25% score=attention select=top",
    "protect=recent:60% score=lag:sinks=2,block=8",
    "score=value:keep=small select=top order=score",
    "protect=sinks:4 score=value:measure=l2 select=sample",
    "protect=sinks:4 score=uniform select=sample order=score",
    "score=leverage:sketch=off,window=16,combine=mean select=sample:floor=0.5",
    "protect=value:10 score=leverage:sketch=64,window=5,combine=key select=sample:weights=on,cap=1",
    "score=leverage:combine=value select=sample:floor=0.1,weights=on order=score",
    "score=0.1*attention-0.9*redundancy:form=original,threshold=0.2 order=score",
    "protect=prompt score=attention*value+0.5*key-norm:keep=large select=strata",
    "protect=sinks:4 score=value:measure=var,keep=small,top=10% select=cluster",
    "score=uniform:block=7 share=layer",
    "score=attention:form=rms select=sample",
    "score=attention:form=max,smooth=off select=sample:floor=0.1,weights=on",
    "score=caote",
    "score=query-attention:queries=8,over=older,group=max,pool=max7",
    "score=query-attention:queries=1 share=layer",
    "score=lifetime-attention:average=on protect=recent:50%",
    "score=recurrence",
    "protect=sinks:4 score=expected-attention",
};

// Parts that need a file of the model have tests of their own.
const std::set<std::string_view> kNeedAFile = {"triattention", "seer"};

std::vector<std::string> every_policy() {
  std::vector<std::string> all = kCompositions;
  for (const PolicyInfo& preset : Policy::presets()) {
    const Policy policy = Policy::parse(preset.name);
    if (!policy.evicts()) continue;
    all.push_back(preset.name);
    all.push_back(preset.name + " protect+=prompt");
    const std::string order = policy.share == Share::kHead ? " order=score" : "";
    all.push_back(preset.name + " protect+=sinks:6,prompt:first=20,last=10" + order);
  }
  return all;
}

std::vector<HeadShape> shapes() {
  std::vector<HeadShape> all = {
      {},
      {.candidates = 192, .prompt = 60, .head_dim = 80, .group = 5},                        // first drop: C = 2M
      {.candidates = 97, .budget = 41, .buffer = 1, .prompt = 500, .type = RowType::kF16},  // prompt beyond K
      {.candidates = 128, .budget = 128, .buffer = 64, .prompt = 7, .shuffled = true},
      {.candidates = 25, .budget = 57, .buffer = 32, .prompt = 1},                          // K = C: keeps all
      {.candidates = 60, .budget = 33, .prompt = 9},                                        // M = R + 1: K = 1
      {.candidates = 1, .budget = 33, .prompt = 1},                                         // K = C = 1
      {.candidates = 400, .budget = 48, .buffer = 16, .prompt = 390},                       // P >> M
  };
  for (int head_dim : {1, 20, 64, 80, 128, 256}) {
    for (RowType type : kRowTypes) {
      const int group = head_dim == 1 ? 1 : head_dim < 80 ? 4 : head_dim < 128 ? 5 : 8;
      all.push_back({.candidates = 40, .budget = 40, .buffer = 16, .prompt = 3, .head_dim = head_dim, .group = group,
                     .type = type});
    }
  }
  for (int group : {1, 4, 5, 8}) all.push_back({.candidates = 50, .budget = 50, .buffer = 8, .group = group});
  return all;
}

struct Row {
  HeadShape shape;
  TestHead head;
};

// The heads of all shapes, of two contents each.
std::vector<Row>& heads() {
  static std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (HeadShape shape : shapes()) {
      for (shape.seed = 1; shape.seed <= 2; ++shape.seed) rows.push_back({shape, TestHead(shape)});
    }
    return rows;
  }();
  return all;
}

std::vector<uint32_t> plan(const Policy& policy, const HeadView& view, PolicyScratch& scratch, const DrawKey& key = {},
                           PlanTrace* trace = nullptr) {
  PhiloxDraws draws(key);
  std::vector<uint32_t> kept(view.keep());
  policy.plan(view, draws, scratch, kept, trace);
  return kept;
}

// K distinct candidates, in the order that the policy promises.
void expect_plan(const Policy& policy, const HeadView& view, const std::vector<uint32_t>& kept) {
  ASSERT_EQ(static_cast<int>(kept.size()), view.keep());
  ASSERT_EQ(std::set<uint32_t>(kept.begin(), kept.end()).size(), kept.size());
  ASSERT_LT(*std::max_element(kept.begin(), kept.end()), static_cast<uint32_t>(view.candidates()));
  if (policy.order == Order::kPosition) {
    ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  }
}

// Whatever a plan may use of the scratch, filled with what an unclean call could leave behind.
void soil(PolicyScratch& scratch) {
  for (auto* v : {&scratch.scores, &scratch.log_weight, &scratch.mixed, &scratch.term, &scratch.shared, &scratch.energy,
                  &scratch.draws, &scratch.row, &scratch.gaussian, &scratch.work}) {
    std::fill(v->begin(), v->end(), std::numeric_limits<float>::quiet_NaN());
  }
  std::fill(scratch.keys.begin(), scratch.keys.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(scratch.pool.begin(), scratch.pool.end(), ~0u);
  std::fill(scratch.order.begin(), scratch.order.end(), ~0u);
  std::fill(scratch.claimed.begin(), scratch.claimed.end(), uint8_t{0xff});
}

class PolicyContract : public testing::TestWithParam<std::string> {
 protected:
  const Policy policy_ = Policy::parse(GetParam());
};

TEST_P(PolicyContract, KeepsExactlyKDistinctCandidatesAndAllThatIsProtected) {
  for (auto& [shape, head] : heads()) {
    const HeadView view = head.view_for(policy_.needs());
    PolicyScratch scratch;
    PlanTrace trace;
    const auto kept = plan(policy_, view, scratch, {.seed = shape.seed}, &trace);
    ASSERT_NO_FATAL_FAILURE(expect_plan(policy_, view, kept));
    const std::set<uint32_t> held(kept.begin(), kept.end());
    for (uint32_t c : trace.protected_) ASSERT_TRUE(held.contains(c)) << c;
    const std::set<int> positions = positions_of(kept, view);
    if (shape.candidates < policy_.sinks() || view.keep() <= policy_.sinks()) continue;
    for (int sink = 0; sink < policy_.sinks(); ++sink) ASSERT_TRUE(positions.contains(sink)) << sink;
    if (!policy_.protects_prompt() || shape.prompt >= view.keep() - policy_.sinks()) continue;
    for (int p : view.positions) ASSERT_TRUE(p >= shape.prompt || positions.contains(p)) << p;
  }
}

TEST_P(PolicyContract, SameDrawsGiveTheSamePlanWhateverTheScratchHeldBefore) {
  const DrawKey key{.seed = 9, .layer = 3, .head = 1, .eviction = 2};
  PolicyScratch used;
  for (auto& [shape, head] : heads()) {
    const HeadView view = head.view_for(policy_.needs());
    PolicyScratch fresh;
    soil(used);
    EXPECT_EQ(plan(policy_, view, used, key), plan(policy_, view, fresh, key));
    if (!policy_.needs().log_weight) continue;
    for (int c = 0; c < view.candidates(); ++c) EXPECT_EQ(used.log_weight[c], fresh.log_weight[c]);
  }
}

TEST_P(PolicyContract, SeedsMatterWhereSomethingIsDrawnAndNowhereElse) {
  bool differs = false;
  for (auto& [shape, head] : heads()) {
    const HeadView view = head.view_for(policy_.needs());
    PolicyScratch scratch;
    const auto first = plan(policy_, view, scratch, {.seed = 1});
    for (uint64_t seed = 2; seed <= 4; ++seed) differs |= plan(policy_, view, scratch, {.seed = seed}) != first;
  }
  EXPECT_EQ(differs, policy_.needs().draws);
}

TEST_P(PolicyContract, BothOrdersKeepTheSameSet) {
  Policy one = policy_, other = policy_;
  one.order = Order::kPosition;
  other.order = Order::kScore;
  TestHead head({.candidates = 120, .prompt = 12});
  const HeadView view = head.view_for(policy_.needs());
  EXPECT_EQ(positions_of(plan_of(one, view), view), positions_of(plan_of(other, view), view));
}

TEST_P(PolicyContract, TextIsCanonical) {
  const Policy again = Policy::parse(policy_.text());
  EXPECT_EQ(again.text(), policy_.text());
  EXPECT_EQ(again.order, policy_.order);
  EXPECT_EQ(again.share, policy_.share);
  TestHead head({.prompt = 9});
  const HeadView view = head.view_for(policy_.needs());
  EXPECT_EQ(plan_of(again, view), plan_of(policy_, view));
}

TEST_P(PolicyContract, LeavesAloneWhatItDoesNotAskFor) {
  const PolicyNeeds needs = policy_.needs();
  TestHead head({.prompt = 9});
  HeadView full = head.view_for(needs);
  const auto kept = plan_of(policy_, full);
  if (needs.attention == AttentionRecord::kNone) full.attention = head.attention, full.attention_rows = 64;
  if (!needs.value_range) full.value_range = head.value_range;
  if (!needs.norm_product) full.norm_product = head.norm_product;
  if (!needs.rope) full.rope = head.view.rope;
  if (needs.queries == 0) full.queries = head.view.queries;
  EXPECT_EQ(plan_of(policy_, full), kept);
}

// A view's rows in blocks, the last ones first.
class BackwardBlocks final : public RowBlocks {
 public:
  explicit BackwardBlocks(const HeadView& view) : view_(view), index_(indices(view.slots())) { std::ranges::reverse(index_); }
  int count() const override { return (view_.slots() + kRows - 1) / kRows; }
  RowBlock keys(int block) override { return rows(view_.keys, block); }
  RowBlock values(int block) override { return rows(view_.values, block); }

 private:
  static constexpr int kRows = 7;
  RowBlock rows(const RowsView& all, int block) {
    const size_t first = size_t(block) * kRows, stride = padded_row(all.width);
    const auto index = std::span(index_).subspan(first, std::min<size_t>(kRows, index_.size() - first));
    decoded_.assign(kRows * stride, 0);
    for (size_t r = 0; r < index.size(); ++r) read_row(all, index[r], &decoded_[r * stride]);
    return {{decoded_.data(), stride * sizeof(float), RowType::kF32, all.width, nullptr}, index};
  }
  const HeadView view_;
  std::vector<uint32_t> index_;
  std::vector<float> decoded_;
};

TEST_P(PolicyContract, RowsMayComeInBlocksOfAnyOrder) {
  const PolicyNeeds needs = policy_.needs();
  if (!needs.row_blocks || needs.rows) return;  // asks for none, or for all at once
  TestHead head({.prompt = 9});
  const HeadView view = head.view_for(needs);
  BackwardBlocks blocks(view);
  HeadView hidden = view;
  hidden.blocks = &blocks;
  hidden.keys.base = hidden.values.base = nullptr;
  EXPECT_EQ(plan_of(policy_, hidden), plan_of(policy_, view));
}

TEST_P(PolicyContract, AcceptsItsSmallestBudgetAndRefusesOneLess) {
  for (int buffer : {1, 16, 64}) {
    const int smallest = static_cast<int>(policy_.smallest_budget(buffer));
    EXPECT_NO_THROW(policy_.validate(smallest, buffer));
    EXPECT_ANY_THROW(policy_.validate(smallest - 1, buffer));
    TestHead head({.candidates = smallest + 8, .budget = smallest, .buffer = buffer, .prompt = 30});
    EXPECT_EQ(static_cast<int>(plan_of(policy_, head.view_for(policy_.needs())).size()), smallest - buffer);
  }
}

// A cache whose numbers have gone wrong still gives a plan, and always the same one.
TEST_P(PolicyContract, BrokenNumbersStillGiveOnePlan) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.0f, 1.0f}) {
    for (bool everywhere : {false, true}) {
      TestHead head({.prompt = 9});
      std::vector<float> rows((96 + 32) * 32);
      PhiloxDraws({.seed = 5}).gaussian(false, rows);
      for (size_t at = 0; at < rows.size(); ++at) {
        if (everywhere || at / 32 == 17) rows[at] = bad;
      }
      head.set_keys(rows);
      head.set_values(rows);
      for (auto* numbers : {&head.attention, &head.value_range, &head.norm_product}) {
        if (everywhere) std::fill(numbers->begin(), numbers->end(), bad);
        (*numbers)[17] = bad;
      }
      const HeadView view = head.view_for(policy_.needs());
      PolicyScratch scratch;
      const auto kept = plan(policy_, view, scratch);
      ASSERT_NO_FATAL_FAILURE(expect_plan(policy_, view, kept));
      soil(scratch);
      EXPECT_EQ(plan(policy_, view, scratch), kept) << bad;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllPolicies, PolicyContract, testing::ValuesIn(every_policy()),
                         [](const auto& row) { return "policy" + std::to_string(row.index); });

// A part that no row of the table names has not been tested.
TEST(ContractTable, NamesEveryPart) {
  std::string all;
  for (const std::string& text : every_policy()) all += Policy::parse(text).text() + " ";
  for (const PartInfo& part : Policy::parts()) {
    if (part.kind == "read" || kNeedAFile.contains(part.name)) continue;
    const std::string name(part.name);
    const bool named = std::any_of(all.begin(), all.end(), [&, at = size_t{0}](char) mutable {
      const size_t here = at++;
      return all.compare(here, name.size(), name) == 0 && (here == 0 || std::string_view("=,*").find(all[here - 1]) !=
                                                                            std::string_view::npos);
    });
    EXPECT_TRUE(named) << part.kind << " " << name;
  }
}

// With smoothing off nothing depends on the logical order.
TEST(Permutation, KeptPositionsDoNotDependOnTheOrderOfCandidates) {
  for (const char* text : {"protect=sinks:4,value:25% score=attention:smooth=off select=sample",
                           "protect=sinks:4,prompt score=attention:smooth=off select=top", "vase-dkv", "curdkv",
                           "random-prompt", "protect=random:10 score=value:keep=small"}) {
    const TestHead head({.candidates = 150, .prompt = 20});
    const auto want = positions_of(plan_of(text, head.view), head.view);
    std::vector<uint32_t> order = indices(150);
    for (uint32_t& c : order) c = (c * 77 + 13) % 150;  // 77 and 150 have no common factor
    const TestHead other = head.reordered(order);
    EXPECT_EQ(positions_of(plan_of(std::string(text) + " order=score", other.view), other.view), want) << text;
  }
}

// A head's plan depends on its own key alone, so other sequences may come and go.
TEST(Streams, EveryPartOfTheKeyChangesTheDrawsAndNothingElseDoes) {
  const TestHead head({.candidates = 200});
  const DrawKey base{.seed = 5, .sequence = 1, .layer = 2, .head = 3, .eviction = 4};
  DrawKey keys[] = {base, base, base, base, base};
  ++keys[0].seed, ++keys[1].sequence, ++keys[2].layer, ++keys[3].head, ++keys[4].eviction;
  const auto want = plan_of("random", head.view, base);
  for (const DrawKey& key : keys) EXPECT_NE(plan_of("random", head.view, key), want);
  EXPECT_EQ(plan_of("random", head.view, base), want);
}

TEST(Seeds, AllValidSeedsDiffer) {
  const TestHead head({.candidates = 200});
  std::set<std::vector<uint32_t>> plans;
  for (uint64_t seed : {uint64_t{0}, uint64_t{7}, uint64_t{0xffffffff}, uint64_t{1} << 63, ~uint64_t{0}}) {
    plans.insert(plan_of("vase-attnv", head.view, {.seed = seed}));
    plans.insert(plan_of("vase-attnv", head.view, {.seed = seed}));
  }
  EXPECT_EQ(plans.size(), 5u);
}

}  // namespace
}  // namespace vase
