// Where the reference is known to be wrong (docs/policies.md 5): what must happen instead, on its own data.
#include <algorithm>
#include <numeric>
#include <set>

#include "engine/attention_driver.h"
#include "golden/golden_head.h"
#include "policies/score/attention.h"

namespace vase::golden {
namespace {

size_t distinct(const std::vector<uint32_t>& slots) { return std::set<uint32_t>(slots.begin(), slots.end()).size(); }

// Fewer positive weights than places: every positive one is kept in the reference's order, the rest are other
// candidates by their own exponential draw, and nothing comes twice.
void check_duplicate_rows(const Case& c, int head) {
  const Head input(c, 0, head, first_tokens(c.param("C")), window_queries(c, 0, head, 0), RowType::kF32);
  RecordedDraws draws(c, "", 0, head);
  PolicyScratch scratch;
  std::vector<uint32_t> kept(c.param("K"));
  Policy::parse(policy_text(c) + " order=score").plan(input.view(), draws, scratch, kept);

  const auto reference = c["kept_order"].row<uint32_t>(0, head);
  const auto duplicates = static_cast<size_t>(c["duplicates"].at(0, head));
  ASSERT_GT(duplicates, 0u);
  EXPECT_EQ(distinct(reference), reference.size() - duplicates);
  EXPECT_EQ(distinct(kept), kept.size());

  const auto positive = static_cast<int>(c["positive_weights"].at(0, head));
  const auto exact = c.param("n_large") + positive;  // the value set, then what the weights decide
  ASSERT_LT(exact, c.param("K"));
  auto decided = reference;  // but for the order of the sinks, a tie that it leaves open
  std::sort(decided.begin(), decided.begin() + c.param("n_sink"));
  decided.resize(exact);
  EXPECT_EQ(std::vector(kept.begin(), kept.begin() + exact), decided);
  auto value_set = c["value_set"].row<uint32_t>(0, head);
  std::sort(value_set.begin(), value_set.begin() + c.param("n_sink"));
  EXPECT_EQ(std::vector(kept.begin(), kept.begin() + c.param("n_large")), value_set);

  std::vector<uint32_t> others;  // neither protected nor of any weight
  for (uint32_t j = 0; j < static_cast<uint32_t>(c.param("C")); ++j) {
    if (std::find(kept.begin(), kept.begin() + exact, j) == kept.begin() + exact) others.push_back(j);
  }
  for (uint32_t j : others) ASSERT_EQ(c["weight"].at(0, head, j), 0);
  std::ranges::sort(others, {}, [&](uint32_t j) { return c["E"].at(0, head, j); });
  others.resize(c.param("K") - exact);
  EXPECT_EQ(std::vector(kept.begin() + exact, kept.end()), others);
  EXPECT_EQ(scratch.weightless_draws, others.size());
}

void duplicate_rows(const Case& c) {
  for (int head = 0; head < c.param("H"); ++head) {
    SCOPED_TRACE(head);
    check_duplicate_rows(c, head);
  }
}

// The engine's attention on the rows of a case, with a prompt in the given pieces and single tokens behind it.
std::vector<std::vector<int32_t>> kept_by_engine(const Case& c, const std::string& policy, const CacheOptions& cache,
                                                 const std::vector<int>& pieces) {
  const int heads = c.param("H"), group = c.param("G"), width = c.param("d");
  test::FakeModel rows{.shape = {.layers = 1, .query_heads = heads * group, .kv_heads = heads, .head_dim = width}};
  rows.own_rows = [&](int64_t position, int what) {
    std::vector<float> row;
    for (int head = 0; head < (what == 0 ? heads * group : heads); ++head) {
      const std::vector<float> one = what == 0   ? c["Q"].row(0, head, position)
                                     : what == 1 ? c["K"].row(0, position, head)
                                                 : c["V"].row(0, position, head);
      row.insert(row.end(), one.begin(), one.end());
    }
    return row;
  };
  test::Driver driver(rows, policy, cache, {.threads = 1});
  Sequence sequence = driver.start(0, 0, std::accumulate(pieces.begin(), pieces.end(), 0));
  for (int tokens : pieces) driver.step({&sequence}, {tokens});
  EXPECT_EQ(sequence.evictions, 0);
  while (sequence.evictions == 0) driver.step({&sequence}, {1});
  EXPECT_EQ(sequence.seen, c.param("n"));
  std::vector<std::vector<int32_t>> kept;
  for (int head = 0; head < heads; ++head) kept.push_back(driver.kept(0, 0, head));
  return kept;
}

// What the one-shot prefill keeps, in gather order, and then the buffer.
std::vector<int32_t> one_shot_slots(const Case& c, int head) {
  auto slots = c["kept_order_one_shot"].row<int32_t>(0, head);
  for (int t = c.param("C"); t < c.param("n"); ++t) slots.push_back(t);
  return slots;
}

void chunked_prefill(const Case& c) {
  for (int head = 0; head < c.param("H"); ++head) {
    EXPECT_NE(c["kept_order"].row(0, head), c["kept_order_one_shot"].row(0, head));  // the defect
    const Head input(c, 0, head, first_tokens(c.param("C")), window_queries(c, 0, head, c.param("n") - c.param("W")),
                     RowType::kF32);
    RecordedDraws draws(c, "", 0, head);
    PolicyScratch scratch;
    std::vector<float> score(c.param("C"));
    WindowAttention(c.flag("smooth"), kernels::Divisor::kFixed).score(input.view(), draws, scratch, score);
    for (int j = 0; j < c.param("C"); ++j) {
      const double want = c["A_one_shot"].at(0, head, j);
      ASSERT_NEAR(score[j], want, kTolerance * want) << j;
    }
  }
  const auto pieces = c.json().at("params").at("prefill").get<std::vector<int>>();
  const int prompt = std::accumulate(pieces.begin(), pieces.end(), 0);
  const std::vector<std::vector<int>> splits = {
      {prompt}, pieces, {1, prompt - 1}, {prompt - 1, 1}, {64, 64, prompt - 128}, std::vector<int>(prompt, 1)};
  CacheOptions parity{.budget = c.param("M"), .buffer = c.param("R")};
  const CacheOptions general = parity;
  parity.prefill = Prefill::kDense;
  parity.max_prompt = prompt;
  parity.trigger = Trigger::kParity;
  // The window's attention summed up as it goes, and computed from a ring of stored queries.
  const std::vector<std::string> policies = {
      "score=attention:divisor=fixed order=score",
      "score=query-attention:queries=" + std::to_string(c.param("W")) +
          ",over=candidates,pool=avg5,divisor=fixed order=score"};
  for (const std::string& policy : policies) {
    for (const CacheOptions& cache : {parity, general}) {
      for (const auto& split : splits) {
        SCOPED_TRACE(policy + ", " + std::to_string(split.size()) + " pieces, the first of " +
                     std::to_string(split[0]));
        const auto kept = kept_by_engine(c, policy, cache, split);
        for (int head = 0; head < c.param("H"); ++head) EXPECT_EQ(kept[head], one_shot_slots(c, head)) << head;
      }
    }
  }
}

TEST(GoldenDefects, EveryCase) {
  VASE_SKIP_WITHOUT_GOLDEN();
  int checked = 0;
  for (const std::string& name : cases("defects/")) {
    SCOPED_TRACE(name);
    ++checked;
    if (name == "defects/duplicate_rows") {
      duplicate_rows(Case(name));
    } else if (name == "defects/chunked_prefill") {
      chunked_prefill(Case(name));
    } else {
      EXPECT_EQ(name, "defects/refusals") << "no test handles this case";  // GoldenRefusals does
    }
  }
  EXPECT_EQ(checked, 3);
}

}  // namespace
}  // namespace vase::golden
