// Policies on arrays: cases worked out by hand, and every array that must be refused.
#include "vase/select.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "policies/arrays/attention_record.h"
#include "policies/test_head.h"
#include "vase/error.h"

namespace vase {
namespace {

using Floats = std::vector<float>;

// One channel, so that the logit of query q for key k is q k. Keys ln 1, ln 2, ... ln n: the query 1 gives candidate j
// the probability (j + 1) / (1 + 2 + ... + C).
struct Line {
  explicit Line(int rows) : values(rows, 0.0f) {
    for (int i = 0; i < rows; ++i) keys.push_back(std::log(float(i + 1)));
    input.head_dim = 1;
    input.keys = keys;
    input.values = values;
    input.queries = one;
    input.buffer = 1;
    input.budget = 3;
  }
  Floats keys, values, one = {1};
  SelectInput input;
};

TEST(SelectSlots, KeepsWhatTheQueryLooksAtAndTheBuffer) {
  const Line line(5);
  const Selection s = select_slots(Policy::parse("score=attention:smooth=off"), line.input);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{2, 3, 4}));
  ASSERT_EQ(s.scores.size(), 4u);
  for (int c = 0; c < 4; ++c) EXPECT_NEAR(s.scores[c], (c + 1) / 10.0, 1e-6);
  EXPECT_TRUE(s.protected_.empty());
  EXPECT_TRUE(s.log_weight.empty());
}

TEST(SelectSlots, ProtectedSinksAreNamed) {
  const Line line(5);
  const Selection s = select_slots(Policy::parse("protect=sinks:1 score=attention:smooth=off"), line.input);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{0, 3, 4}));
  EXPECT_EQ(s.protected_, (std::vector<uint32_t>{0}));
}

TEST(SelectSlots, LogWeightsCountAsLogits) {
  Line line(5);
  const Floats weights = {std::log(10.0f), 0, 0, 0, 0};  // row 0 stands for ten tokens
  line.input.log_weight = weights;
  const Selection s = select_slots(Policy::parse("score=attention:smooth=off"), line.input);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{0, 3, 4}));
  EXPECT_NEAR(s.scores[0], 10.0 / 19, 1e-6);
}

TEST(SelectSlots, DrawsDependOnSeedHeadAndEviction) {
  Line line(200);
  line.input.budget = 100;
  const Policy policy = Policy::parse("random");
  const auto kept = [&] { return select_slots(policy, line.input).kept; };
  const auto first = kept();
  EXPECT_EQ(kept(), first);
  const auto changes = [&](auto& field) {
    ++field;
    const bool changed = kept() != first;
    --field;
    return changed;
  };
  EXPECT_TRUE(changes(line.input.seed));
  EXPECT_TRUE(changes(line.input.stream));
  EXPECT_TRUE(changes(line.input.layer));
  EXPECT_TRUE(changes(line.input.kv_head));
  EXPECT_TRUE(changes(line.input.eviction));
}

// Looks at the view that it is given.
class Spy final : public Scorer {
 public:
  using Look = std::function<void(const HeadView&)>;
  Spy(PolicyNeeds needs, Look look) : needs_(needs), look_(std::move(look)) {}
  PolicyNeeds needs() const override { return needs_; }
  void score(const HeadView& head, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    look_(head);
    std::iota(out.begin(), out.end(), 0.0f);
  }
  std::string text() const override { return "spy"; }

 private:
  PolicyNeeds needs_;
  Look look_;
};

Policy with_spy(PolicyNeeds needs, Spy::Look look) {
  return Policy::parse("score=uniform").with_scorer(std::make_shared<Spy>(needs, std::move(look)));
}

TEST(SelectSlots, AScorerSeesAllThatItAskedFor) {
  constexpr int kRows = 6, kDim = 3, kGroup = 2;  // 3 channels: rows have to be padded
  Floats keys(kRows * kDim), values(kRows * kDim), queries(4 * kGroup * kDim);
  std::iota(keys.begin(), keys.end(), 0.0f);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % kDim) * float(i / kDim);  // range of row i: 2 i
  std::iota(queries.begin(), queries.end(), 100.0f);
  const std::vector<int32_t> positions = {0, 3, 4, 8, 9, 10};
  const std::vector<float> frequencies = rope_frequencies(100, 2);
  SelectInput input{.head_dim = kDim, .keys = keys, .values = values, .positions = positions, .queries = queries};
  input.group = kGroup;
  input.budget = 4;
  input.buffer = 2;
  input.prompt_tokens = 4;
  input.rope.frequencies = frequencies;
  bool called = false;
  const auto look = [&](const HeadView& head) {
    called = true;
    EXPECT_EQ(head.seen, 11);
    EXPECT_EQ(head.prompt_tokens, 4);
    EXPECT_EQ(std::vector<int32_t>(head.positions.begin(), head.positions.end()), (std::vector<int32_t>{0, 3, 4, 8}));
    ASSERT_EQ(head.value_range.size(), 4u);
    for (int c = 0; c < 4; ++c) EXPECT_EQ(head.value_range[c], 2 * c);
    ASSERT_EQ(head.norm_product.size(), 4u);
    EXPECT_FLOAT_EQ(head.norm_product[1], std::sqrt(50.0f * 5.0f));  // (3, 4, 5) and (0, 1, 2)
    float row[16];
    read_row(head.keys, 5, row);  // the buffer's rows follow
    EXPECT_EQ(row[0], 15);
    EXPECT_EQ(row[2], 17);
    ASSERT_EQ(head.queries.count, 3);  // three were asked for
    EXPECT_EQ(head.queries.row(0, 0)[0], 106);
    EXPECT_EQ(head.queries.row(2, 1)[2], 123);
    EXPECT_EQ(head.attention_rows, 4);
    ASSERT_EQ(head.rope.frequencies.size(), 1u);
    EXPECT_EQ(head.rope.frequencies[0], 1);
  };
  PolicyNeeds needs{.attention = AttentionRecord::kWindowSum, .value_range = true, .norm_product = true, .rope = true, .queries = 3};
  const Selection s = select_slots(with_spy(needs, look), input);
  EXPECT_TRUE(called);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{2, 3, 4, 5}));
}

TEST(SelectSlots, ReturnsTheLogWeightsOfWhatIsKept) {
  class Doubling final : public Selector {  // keeps the last ones and doubles their weight
   public:
    PolicyNeeds needs() const override { return {.log_weight = true}; }
    void select(const HeadView&, std::span<const float>, std::span<uint32_t> pool, bool, RandomDraws&,
                PolicyScratch& scratch, std::span<uint32_t> out) const override {
      std::copy(pool.end() - out.size(), pool.end(), out.begin());
      for (const uint32_t c : out) scratch.log_weight[c] += std::log(2.0f);
    }
    std::string text() const override { return "doubling"; }
  };
  Line line(5);
  const Floats weights = {0, 0, 0, 1, 0.5f};
  line.input.log_weight = weights;
  const Policy policy({}, std::make_shared<Spy>(PolicyNeeds{}, [](const HeadView&) {}), std::make_shared<Doubling>());
  const Selection s = select_slots(policy, line.input);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{2, 3, 4}));
  ASSERT_EQ(s.log_weight.size(), 3u);
  EXPECT_FLOAT_EQ(s.log_weight[0], std::log(2.0f));
  EXPECT_FLOAT_EQ(s.log_weight[1], 1 + std::log(2.0f));
  EXPECT_EQ(s.log_weight[2], 0.5f);  // the buffer's stays
}

TEST(AttentionRecords, WindowFormsOfTwoQueries) {
  Line line(5);
  const Floats queries = {7, 1, 0};  // the first belongs to a candidate, so the window leaves it out
  line.input.queries = queries;
  line.input.buffer = 2;  // 3 candidates: p = (1, 2, 3) / 6 and 1/3 each
  const std::vector<int32_t> positions = {0, 1, 2, 3, 4};
  const auto record = [&](AttentionRecord form, float temperature = 1) {
    const auto records = attention_records(line.input, positions, {.attention = form, .temperature = temperature});
    EXPECT_EQ(records.rows, 2);
    return records.attention;
  };
  const auto near = [](const Floats& got, std::vector<double> want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << i;
  };
  near(record(AttentionRecord::kWindowSum), {1 / 6. + 1 / 3., 2 / 6. + 1 / 3., 3 / 6. + 1 / 3.});
  near(record(AttentionRecord::kWindowSquares), {1 / 36. + 1 / 9., 4 / 36. + 1 / 9., 9 / 36. + 1 / 9.});
  near(record(AttentionRecord::kWindowMax), {1 / 3., 1 / 3., 3 / 6.});
  // Temperature 1/2 squares the odds: (1, 4, 9) / 14.
  near(record(AttentionRecord::kWindowSum, 0.5f), {1 / 14. + 1 / 3., 4 / 14. + 1 / 3., 9 / 14. + 1 / 3.});
}

TEST(AttentionRecords, LifetimeIsCausal) {
  Line line(5);
  const Floats queries(5, 0.0f);  // every query looks at all that is not newer in equal parts
  line.input.queries = queries;
  const std::vector<int32_t> positions = {0, 1, 2, 3, 4};
  const auto records = attention_records(line.input, positions, {.attention = AttentionRecord::kLifetimeSum});
  ASSERT_EQ(records.attention.size(), 4u);
  for (int c = 0; c < 4; ++c) {
    double want = 0;
    for (int t = c; t < 5; ++t) want += 1.0 / (t + 1);
    EXPECT_NEAR(records.attention[c], want, 1e-6) << c;
  }
}

TEST(AttentionRecords, RecurrenceKeepsTheLastUseAndTheLongestGap) {
  // Keys (1, 0), (0, 1), then zeros; a query of 20 along one axis looks at that key alone, one of zeros at all.
  const Floats keys = {20, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, values(14, 0.0f);
  const Floats queries = {0, 20, 20, 0, 20, 0, 0, 20, 20, 0};  // positions 2, 3, 4, 5, 6: keys 1, 0, 0, 1, 0
  SelectInput input{.head_dim = 2, .keys = keys, .values = values, .positions = {}, .queries = queries};
  input.buffer = 4;
  const std::vector<int32_t> positions = {0, 1, 2, 3, 4, 5, 6};
  const auto records =
      attention_records(input, positions, {.attention = AttentionRecord::kRecurrence, .threshold = 0.9f});
  EXPECT_EQ(records.last_use, (std::vector<int32_t>{6, 5, 2}));
  EXPECT_EQ(records.longest_gap, (std::vector<int32_t>{3, 3, 0}));  // 0: 3, 4, 6; 1: 2, 5; never used
}

std::string refusal(const Policy& policy, const SelectInput& input) {
  try {
    select_slots(policy, input);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    return e.what();
  }
  return "accepted";
}

void expect_refusal(const std::string& part, const SelectInput& input, const std::string& policy = "snapkv") {
  EXPECT_NE(refusal(Policy::parse(policy), input).find(part), std::string::npos)
      << part << " | " << refusal(Policy::parse(policy), input);
}

TEST(SelectSlots, NamesTheNumberThatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Floats keys(10, 0.0f), values(10, 0.0f), queries(4, 0.0f), weights(5, 0.0f);
  SelectInput input{.head_dim = 2, .keys = keys, .values = values, .positions = {}, .queries = queries};
  input.log_weight = weights;
  input.budget = 3;
  input.buffer = 2;
  const auto with = [&](float& number, float bad, const char* message) {
    const float good = std::exchange(number, bad);
    expect_refusal(message, input);
    number = good;
  };
  with(keys[7], nan, "keys[3][1] is NaN");
  with(values[0], inf, "values[0][0] is infinity");
  with(queries[2], -inf, "queries[1][0] is -infinity");
  with(weights[4], nan, "log_weight[4] is NaN");
  EXPECT_EQ(select_slots(Policy::parse("snapkv"), input).kept.size(), 3u);
}

TEST(SelectSlots, NamesWhatDoesNotFit) {
  const auto refused = [](const std::string& part, auto change, const std::string& policy = "snapkv") {
    Line line(5);
    change(line);
    expect_refusal(part, line.input, policy);
  };
  refused("'full' never evicts", [](Line&) {}, "full");
  refused("head_dim is 0", [](Line& l) { l.input.head_dim = 0; });
  refused("keys holds 0 numbers", [](Line& l) { l.input.keys = {}; });
  refused("keys holds 5 numbers", [](Line& l) { l.input.head_dim = 2; });
  refused("values has 4 rows, keys has 5", [](Line& l) { l.input.values = l.input.values.first(4); });
  refused("queries holds 1 numbers", [](Line& l) { l.input.group = 2; });
  refused("looks at queries", [](Line& l) { l.input.queries = {}; });
  refused("only 5 were seen", [](Line& l) { l.input.queries = l.one = Floats(6, 1.0f); });
  refused("smallest budget that works here is 2", [](Line& l) { l.input.budget = 1; });
  refused("buffer is 0", [](Line& l) { l.input.buffer = 0; });
  refused("fit into the budget of 6", [](Line& l) { l.input.budget = 6; });
  static const std::vector<int32_t> few = {1, 2}, twice = {0, 1, 1, 2, 3}, falls = {0, 2, 1, 3, 4},
                                    negative = {-1, 0, 1, 2, 3}, mixed_twice = {2, 0, 2, 1, 5},
                                    not_older = {0, 1, 2, 9, 5};
  refused("positions has 2 rows", [](Line& l) { l.input.positions = few; });
  refused("positions[2] = 1 follows 1", [](Line& l) { l.input.positions = twice; });
  refused("positions[2] = 1 follows 2", [](Line& l) { l.input.positions = falls; });
  refused("positions[0] is -1", [](Line& l) { l.input.positions = negative; });
  refused("position 2 comes twice", [](Line& l) { l.input.positions = mixed_twice; }, "snapkv order=score");
  refused("position 9 is not older", [](Line& l) { l.input.positions = not_older; }, "snapkv order=score");
  refused("magnitude of RoPE is 0.0", [](Line& l) { l.input.rope.magnitude = 0; });
  const auto spy = with_spy({.rope = true}, [](const HeadView&) {});
  EXPECT_NE(refusal(spy, Line(5).input).find("frequencies of RoPE"), std::string::npos);
}

TEST(Policy, TakesAScorerOfOnesOwn) {
  const auto mine = std::make_shared<FixedScores>(Floats{5, 4, 3, 2});
  const Policy policy = Policy::parse("vase-attnv protect=sinks:1 order=score").with_scorer(mine);
  EXPECT_EQ(policy.text(), "protect=sinks:1 score=fixed select=sample order=score");
  EXPECT_EQ(policy.needs().attention, AttentionRecord::kNone);
  EXPECT_THROW(policy.with_scorer(nullptr), Error);
  EXPECT_THROW(Policy::parse("full").with_scorer(mine), Error);
  const Line line(5);
  const Policy top = Policy::parse("score=uniform").with_scorer(mine);
  EXPECT_EQ(select_slots(top, line.input).kept, (std::vector<uint32_t>{0, 1, 4}));
}

// Scores of two heads, (1 5 2 4) and (4 2 5 1): the sums 5 7 7 5 choose 1 and 2 for both.
TEST(SelectSlots, HeadsThatShareKeepWhatTheMeanOfTheirScoresChooses) {
  const Floats keys(5), first = {1, 5, 2, 4, 0}, second = {4, 2, 5, 1, 0};
  std::vector<SelectInput> heads(2);
  for (SelectInput& head : heads) {
    head.head_dim = 1;
    head.keys = keys;
    head.budget = 3;
    head.buffer = 1;
  }
  heads[0].values = first;
  heads[1].values = second;
  const Policy policy = Policy::parse("score=value:measure=l2 share=layer");
  const Selection s = select_shared_slots(policy, heads);
  EXPECT_EQ(s.kept, (std::vector<uint32_t>{1, 2, 4}));
  EXPECT_EQ(s.scores, (Floats{2.5f, 3.5f, 3.5f, 2.5f}));
  const std::vector<int32_t> later = {1, 2, 3, 4, 5};
  heads[1].positions = later;
  EXPECT_THROW(select_shared_slots(policy, heads), Error);
  EXPECT_THROW(select_shared_slots(policy, {}), Error);
}

}  // namespace
}  // namespace vase
