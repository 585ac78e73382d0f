// One eviction of every recorded case: scores within tolerance, kept sets exactly, gather order where it is decided.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "golden/golden_head.h"
#include "policies/score/attention.h"

namespace vase::golden {
namespace {

void expect_close(std::span<const float> got, const std::vector<double>& want, const char* what, size_t first = 0) {
  for (size_t i = first; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], kTolerance * std::fabs(want[i])) << what << i;
}

void check_scores(const Case& c, const HeadView& view, RecordedDraws& draws, int row, int head) {
  PolicyScratch scratch;
  scratch.reserve(view.candidates(), view.keys.width);
  std::vector<float> score(view.candidates());
  if (c.has("A_f64")) {
    WindowAttention(c.flag("smooth"), kernels::Divisor::kFixed).score(view, draws, scratch, score);
    expect_close(score, c["A_f64"].row<double>(row, head), "A ");
  }
  if (c.has("race_key_f64")) {  // weight / E; 0 where the value set is
    const auto keys = c["race_key_f64"].row<double>(row, head);
    std::vector<float> exponential(view.candidates());
    draws.exponential(view.positions, exponential);
    for (size_t j = 0; j < keys.size(); ++j) {
      if (keys[j] == 0) continue;
      ASSERT_NEAR(score[j] / exponential[j], keys[j], kTolerance * keys[j]) << "race " << j;
    }
  }
}

// What the last score of candidate j is made of, in absolute value: rounding is relative to it. R-KV's is a difference.
double score_scale(const Case& c, const char* name, int row, int head, uint32_t j) {
  const double score = std::fabs(c[name].at(row, head, j));
  if (!c.has("rho") || std::string_view(name).starts_with("m")) return score;
  const double lambda = c.number("rkv_lambda");
  return lambda * c["A"].at(row, head, j) + (1 - lambda) * c["rho"].at(row, head, j);
}

// The policy's own scores against the reference's; the latter puts 1 for sinks and -inf for what is claimed.
void check_last_scores(const Case& c, const std::vector<float>& scores, int row, int head) {
  if (!c.has("score_f64")) return;
  for (size_t j = c.has("G") ? 4 : 0; j < scores.size(); ++j) {
    const double want = c["score_f64"].at(row, head, j);
    if (std::isinf(want)) continue;
    ASSERT_NEAR(scores[j], want, kTolerance * score_scale(c, "score_f64", row, head, j)) << "score " << j;
  }
}

void check_redundancy(const Case& c, const HeadView& view, RandomDraws& draws, int row, int head) {
  if (!c.has("rho")) return;
  PlanTrace trace;
  plan("score=redundancy", view, draws, &trace);
  const char* rho = c.has("rho_f64") ? "rho_f64" : "rho";
  expect_close(trace.scores, c[rho].row<double>(row, head), "rho ");
}

// What decided each rank of the gather order: the magnitude in the value set, the last score behind it.
const char* deciding_key(const Case& c, size_t rank) {
  const bool in_value_set = c.has("value_set") && rank < static_cast<size_t>(c["value_set"].shape.back());
  if (in_value_set) return c.has("m") ? "m" : "U";
  for (const char* name : {"race_key", "score", "A"}) {
    if (c.has(name)) return name;
  }
  return "m";
}

void check_gather_order(const Case& c, const std::vector<uint32_t>& kept, int row, int head) {
  const auto want = c["kept_order"].row<uint32_t>(row, head);
  if (c.json().at("checks").at("min_gap_order").get<double>() > 2 * kTolerance) {
    EXPECT_EQ(kept, want);
    return;
  }
  for (size_t i = 0; i < kept.size(); ++i) {  // neighbours closer than float32 can tell apart may be swapped
    if (kept[i] == want[i]) continue;
    const char* key = deciding_key(c, i);
    ASSERT_NEAR(c[key].at(row, head, kept[i]), c[key].at(row, head, want[i]),
                2 * kTolerance * score_scale(c, key, row, head, want[i]))
        << "rank " << i;
  }
}

void check_head(const Case& c, int row, int head, RowType type) {
  const Head input(c, row, head, first_tokens(c.param("C")), window_queries(c, row, head, 0), type);
  RecordedDraws draws(c, "", row, head);
  check_scores(c, input.view(), draws, row, head);
  check_redundancy(c, input.view(), draws, row, head);

  const std::string text = policy_text(c);
  PlanTrace trace;
  std::vector<uint32_t> kept = plan(text + " order=score", input.view(), draws, &trace);
  check_last_scores(c, trace.scores, row, head);
  check_gather_order(c, kept, row, head);

  auto want = c["kept_order"].row<uint32_t>(row, head);
  std::sort(want.begin(), want.end());
  EXPECT_EQ(plan(text + " order=position", input.view(), draws), want);
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, want);
}

int check_cases(const std::string& prefix, RowType type) {
  int checked = 0;
  for (const std::string& name : cases(prefix)) {
    SCOPED_TRACE(name);
    const Case c(name);
    ++checked;
    for (int row = 0; row < c.param("B"); ++row) {
      for (int head = 0; head < c.param("H"); ++head) check_head(c, row, head, type);
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return checked;
}

TEST(GoldenEvict, EveryCase) {
  VASE_SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(check_cases("evict/", RowType::kF32), 101);
}

// The inputs are exact in half precision, so its rows must give the same sets.
TEST(GoldenEvict, HalfPrecisionRowsKeepTheSame) {
  VASE_SKIP_WITHOUT_GOLDEN();
  EXPECT_EQ(check_cases("evict/d2_", RowType::kF16), 15);
}

}  // namespace
}  // namespace vase::golden
