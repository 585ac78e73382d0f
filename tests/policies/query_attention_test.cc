// query-attention: hand-computed cases of every option, and direct evaluation in double.
#include <cmath>
#include <limits>

#include "policies/score/pooling.h"
#include "policies/small_head.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// One channel, so logits are q k. Weights of the keys are exp(q k) = 1, 2, 5; the buffer's key has weight 1.
SmallHead three_keys(int group = 1) {
  SmallHead head(3, 1, 2, group, 1, 1);
  head.set(head.keys, 1, {std::log(2.0f)});
  head.set(head.keys, 2, {std::log(5.0f)});
  head.set_query(0, 0, {1});
  return head;
}

TEST(QueryAttention, OverByHand) {
  const SmallHead head = three_keys();
  expect_near(scores_of("query-attention:queries=1,over=candidates", head.view()), {1 / 8., 2 / 8., 5 / 8.}, 1e-6);
  expect_near(scores_of("query-attention:queries=1,over=older", head.view()), {1 / 8., 2 / 8., 5 / 8.}, 1e-6);
  expect_near(scores_of("query-attention:queries=1,over=all", head.view()), {1 / 9., 2 / 9., 5 / 9.}, 1e-6);
  EXPECT_EQ(plan_of("score=query-attention:queries=1", head.view()), (Kept{1, 2}));
}

TEST(QueryAttention, TemperatureByHand) {  // exp(q k / 0.5) = 1, 4, 25
  expect_near(scores_of("query-attention:queries=1,temperature=0.5", three_keys().view()), {1 / 30., 4 / 30., 25 / 30.},
              1e-6);
}

TEST(QueryAttention, GroupByHand) {
  SmallHead head = three_keys(2);
  head.set_query(0, 1, {-1});  // weights 1, 1/2, 1/5: shares 10/17, 5/17, 2/17
  expect_near(scores_of("query-attention:queries=1", head.view()),
              {(1 / 8. + 10 / 17.) / 2, (2 / 8. + 5 / 17.) / 2, (5 / 8. + 2 / 17.) / 2}, 1e-6);
  expect_near(scores_of("query-attention:queries=1,group=max", head.view()), {1 / 8., 2 / 8., 5 / 8.}, 1e-6);
  // Mean shares 0.357, 0.272, 0.371; by the largest logit 0.125, 0.25, 0.625.
  EXPECT_EQ(plan_of("score=query-attention:queries=1", head.view()), (Kept{0, 2}));
  EXPECT_EQ(plan_of("score=query-attention:queries=1,group=max", head.view()), (Kept{1, 2}));
}

// Keys of zero: every slot that a query sees gets the same.
TEST(QueryAttention, AQuerySeesNothingNewerThanItself) {
  const SmallHead head(4, 1, 2, 1, 1, 3);  // queries at 2, 3 and 4, the last in the buffer
  const double a = 1 / 3., b = 1 / 4., c = 1 / 5.;
  expect_near(scores_of("query-attention:queries=3,over=all,reduce=sum", head.view()),
              {a + b + c, a + b + c, a + b + c, b + c}, 1e-6);
  // Without the buffer the last query sees the four candidates.
  expect_near(scores_of("query-attention:queries=3,over=candidates", head.view()),
              {(a + b + b) / 3, (a + b + b) / 3, (a + b + b) / 3, (b + b) / 3}, 1e-6);
  EXPECT_EQ(scores_of("query-attention:queries=3", head.view()),
            scores_of("query-attention:queries=3,over=candidates", head.view()));
}

// Four tokens of buffer, two queries: `older` leaves the newest two out, `all` lets each query see up to itself.
TEST(QueryAttention, OverWithinTheBuffer) {
  const SmallHead head(2, 4, 1, 1, 1, 2);
  expect_near(scores_of("query-attention:queries=2", head.view()), {1 / 4., 1 / 4.}, 1e-6);
  expect_near(scores_of("query-attention:queries=2,over=all", head.view()),
              {(1 / 5. + 1 / 6.) / 2, (1 / 5. + 1 / 6.) / 2}, 1e-6);
}

TEST(QueryAttention, LogWeightsAreAdded) {
  SmallHead head(3, 1, 2, 1, 1, 1);
  head.log_weight = {0, std::log(2.0f), std::log(5.0f)};
  expect_near(scores_of("query-attention:queries=1", head.view()), {1 / 8., 2 / 8., 5 / 8.}, 1e-6);
  expect_near(scores_of("query-attention:queries=1,temperature=0.5", head.view()), {1 / 30., 4 / 30., 25 / 30.}, 1e-6);
}

TEST(QueryAttention, PoolsByHand) {
  const std::vector<float> in = {1, 0, 0, 0, 9, 0, 0, 0, 0};
  std::vector<float> out(9);
  pool_scores(Pool::kMax7, in, kernels::Divisor::kValid, out);
  EXPECT_EQ(out, (std::vector<float>{1, 9, 9, 9, 9, 9, 9, 9, 0}));
  pool_scores(Pool::kAverage5, in, kernels::Divisor::kFixed, out);
  EXPECT_EQ(out, (std::vector<float>{1 / 5.f, 1 / 5.f, 2, 9 / 5.f, 9 / 5.f, 9 / 5.f, 9 / 5.f, 0, 0}));
  pool_scores(Pool::kMax7, std::vector<float>{kNan, kNan, -kInf, 2}, kernels::Divisor::kValid, std::span(out).first(4));
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));  // broken, beside whatever neighbours
  EXPECT_EQ(std::vector<float>(out.begin() + 2, out.begin() + 4), (std::vector<float>{2, 2}));
}

// The strongest key lies at 5; pooling lifts 2 .. 8 to its height, and ties go to the smaller positions.
TEST(QueryAttention, SnapkvDecodeByHand) {
  SmallHead head(10, 8, 4, 1, 1, 8);
  head.set(head.keys, 5, {1});
  for (int w = 0; w < 8; ++w) head.set_query(w, 0, {3});
  EXPECT_EQ(plan_of("snapkv-decode", head.view()), (Kept{2, 3, 4, 5}));
  EXPECT_EQ(plan_of("score=query-attention select=top", head.view()), (Kept{0, 1, 2, 5}));
}

// The same key with the pool of a prompt: an average over 5 lifts 3 .. 7.
TEST(QueryAttention, SnapkvOverAllByHand) {
  SmallHead head(10, 8, 5, 1, 1, 8);
  head.set(head.keys, 5, {1});
  for (int w = 0; w < 8; ++w) head.set_query(w, 0, {3});
  EXPECT_EQ(plan_of("score=query-attention:over=all,reduce=sum,pool=avg5", head.view()), (Kept{3, 4, 5, 6, 7}));
}

// Weights of the newest query 6, 3, 1 and 1, 5, 4, and 10 for its own token: means 0.175, 0.2, 0.125 of the two heads.
TEST(QueryAttention, TovaSharesTheMeanOfTheLayersHeads) {
  std::vector<SmallHead> heads(2, SmallHead(3, 1, 2, 1, 1, 1));
  const float weights[2][4] = {{6, 3, 1, 10}, {1, 5, 4, 10}};
  for (int h = 0; h < 2; ++h) {
    heads[h].set_query(0, 0, {1});
    for (int j = 0; j < 4; ++j) heads[h].set(heads[h].keys, j, {std::log(weights[h][j])});
  }
  const Policy tova = Policy::parse("tova");
  EXPECT_EQ(tova.share, Share::kLayer);
  const HeadView views[] = {heads[0].view(), heads[1].view()};
  PhiloxDraws draws({});
  RandomDraws* const both[] = {&draws, &draws};
  PolicyScratch scratch;
  Kept kept(2);
  tova.plan_shared(views, both, scratch, kept);
  EXPECT_EQ(kept, (Kept{0, 1}));
  EXPECT_EQ(plan_of(tova, views[1]), (Kept{1, 2}));  // what the second head would keep for itself
}

struct Options {
  int queries = 8;
  bool older = true, all = false;
  bool group_max = false, sum = false;
  double temperature = 1;

  std::string text() const {
    return "query-attention:queries=" + std::to_string(queries) + ",over=" +
           (older ? "older"
            : all ? "all"
                  : "candidates") +
           ",group=" + (group_max ? "max" : "mean") + ",reduce=" + (sum ? "sum" : "mean") +
           ",temperature=" + std::to_string(temperature);
  }
};

// The formula, one query and slot at a time.
std::vector<double> direct(const HeadView& head, const Options& options) {
  const int C = head.candidates(), n = head.slots(), held = head.queries.count;
  std::vector<double> scores(C);
  for (int w = held - options.queries; w < held; ++w) {
    const int64_t position = head.seen - held + w;
    std::vector<std::vector<double>> logits(head.group, std::vector<double>(n, -INFINITY));
    for (int g = 0; g < head.group; ++g) {
      for (int j = 0; j < n; ++j) {
        const int64_t at = j < C ? head.positions[j] : head.seen - n + j;
        const bool shares = j < C || options.all || (options.older && at < head.seen - options.queries);
        if (!shares || at > position) continue;
        const auto key = row_of(head.keys, j);
        double dot = 0;
        for (int c = 0; c < head.keys.width; ++c) dot += head.queries.row(w, g)[c] * key[c];
        logits[g][j] = dot / std::sqrt(double(head.keys.width)) + (j < C ? head.log_weight[j] : 0);
        logits[g][j] /= options.temperature;
      }
    }
    if (options.group_max) {
      for (int j = 0; j < n; ++j) {
        for (int g = 1; g < head.group; ++g) logits[0][j] = std::max(logits[0][j], logits[g][j]);
      }
      logits.resize(1);
    }
    for (const auto& row : logits) {
      double total = 0;
      for (double logit : row) total += std::exp(logit);
      const double parts = double(logits.size()) * (options.sum ? 1 : options.queries);
      for (int j = 0; j < C; ++j) scores[j] += std::exp(row[j]) / total / parts;
    }
  }
  return scores;
}

TEST(QueryAttention, EqualsDirectEvaluation) {
  for (int group : {1, 2, 3, 4, 5, 7, 8}) {
    const int head_dim = group % 2 ? 64 : 32 * group;
    const TestHead head({.candidates = 70, .budget = 60, .buffer = 20, .head_dim = head_dim, .group = group,
                         .type = group % 3 ? RowType::kF16 : RowType::kF32, .shuffled = true});
    for (const Options& options : {Options{}, Options{.older = false}, Options{.older = false, .all = true},
                                   Options{.group_max = true, .temperature = 2}, Options{.queries = 33, .sum = true},
                                   Options{.queries = 33, .older = false, .all = true}, Options{.queries = 1}}) {
      const auto want = direct(head.view, options);
      const auto actual = scores_of(options.text(), head.view);
      for (size_t j = 0; j < want.size(); ++j) EXPECT_NEAR(actual[j], want[j], 1e-5 * want[j] + 1e-9) << options.text();
    }
  }
}

TEST(QueryAttention, ABrokenKeyLosesAndSpoilsNoOther) {
  for (float bad : {kNan, kInf}) {
    SmallHead head = three_keys();
    head.set(head.keys, 1, {bad});
    const auto pooled = scores_of("query-attention:queries=1,pool=max7", head.view());
    EXPECT_NEAR(pooled[0], 5 / 6., 1e-6);
    EXPECT_TRUE(std::isnan(pooled[1]));
    for (const char* text : {"query-attention:queries=1", "query-attention:queries=1,group=max"}) {
      const auto scores = scores_of(text, head.view());
      EXPECT_NEAR(scores[0], 1 / 6., 1e-6);
      EXPECT_TRUE(std::isnan(scores[1]));
      EXPECT_NEAR(scores[2], 5 / 6., 1e-6);
    }
    EXPECT_EQ(plan_of("score=query-attention:queries=1", head.view()), (Kept{0, 2}));
  }
}

TEST(QueryAttention, TiesAndNoQueriesKeepTheOldest) {
  EXPECT_EQ(plan_of("score=query-attention:queries=2", SmallHead(9, 3, 4, 2, 4, 2).view()), indices(4));
  EXPECT_EQ(plan_of("score=query-attention", SmallHead(9, 3, 4, 2, 4, 0).view()), indices(4));
}

TEST(QueryAttention, TextAndRange) {
  for (const std::string text : {"query-attention:queries=8", "query-attention:queries=3,over=all,group=max,reduce=sum",
                                 "query-attention:queries=1,over=candidates,pool=avg5,divisor=fixed,temperature=0.5",
                                 "query-attention:queries=64,pool=max7"}) {
    EXPECT_EQ(Policy::parse("score=" + text).text(), "score=" + text + " select=top");
  }
  EXPECT_EQ(Policy::parse("score=query-attention:divisor=fixed").text(), "score=query-attention:queries=8 select=top");
  EXPECT_EQ(Policy::parse("score=query-attention:queries=64").needs().queries, 64);
  EXPECT_EQ(parse_error("score=query-attention:queries=0").rfind("policy, character 31: ", 0), 0u);
  EXPECT_EQ(parse_error("score=query-attention:queries=1025").rfind("policy, character 31: ", 0), 0u);
  EXPECT_EQ(parse_error("score=query-attention:over=some").rfind("policy, character 28: ", 0), 0u);
  EXPECT_EQ(parse_error("score=query-attention:pool=avg7").rfind("policy, character 28: ", 0), 0u);
}

}  // namespace
}  // namespace vase
