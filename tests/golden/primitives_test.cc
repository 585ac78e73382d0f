// Scores of whole input sets against the reference in float64.
#include <cmath>
#include <numeric>

#include "golden/golden_head.h"
#include "kernels/smoothing/smoothing.h"
#include "kernels/value_range/value_range.h"
#include "kernels/window_scores/window_scores.h"

namespace vase::golden {
namespace {

struct MagnitudeCase {
  kernels::Magnitude kind;
  const char* tensor;
  double tolerance;
};

constexpr MagnitudeCase kMagnitudes[] = {{kernels::Magnitude::kRange, "m_range", 0},
                                         {kernels::Magnitude::kAbsMax, "m_absmax", 0},
                                         {kernels::Magnitude::kVariance, "m_var_f64", kTolerance},
                                         {kernels::Magnitude::kL2, "m_l2_f64", kTolerance}};

void check_attention(const Case& c, const HeadView& view, int row, int head) {
  std::vector<float> plain(view.candidates()), smooth(view.candidates());
  for (int j = 0; j < view.candidates(); ++j) plain[j] = view.attention[j] / view.attention_rows;
  kernels::smooth5(plain, kernels::Divisor::kFixed, smooth);
  const auto want_plain = c[c.has("A_plain_f64") ? "A_plain_f64" : "A_plain"].row<double>(row, head);
  const auto want_smooth = c["A_smooth_f64"].row<double>(row, head);
  for (int j = 0; j < view.candidates(); ++j) {
    ASSERT_NEAR(plain[j], want_plain[j], kTolerance * want_plain[j]);
    ASSERT_NEAR(smooth[j], want_smooth[j], kTolerance * want_smooth[j]);
  }
}

// Each query head of the group alone, before the mean over the group.
void check_attention_per_query_head(const Case& c, const HeadView& view, const std::vector<float>& queries, int row,
                                    int head) {
  if (!c.has("a_plain")) return;
  const int window = c.param("W"), width = c.param("d");
  std::vector<float> sum(view.candidates());
  for (int g = 0; g < view.group; ++g) {
    const auto rows = std::span(queries).subspan(static_cast<size_t>(g) * window * width, window * width);
    kernels::window_scores(rows, window, view.keys, 1 / std::sqrt(static_cast<float>(width)), 1, sum);
    for (int j = 0; j < view.candidates(); ++j) {
      const double want = c["a_plain"].at(row, head, g, j);
      ASSERT_NEAR(sum[j] / window, want, kTolerance * want);
    }
  }
}

void check_magnitudes(const Case& c, const HeadView& view, int row, int head) {
  std::vector<float> value(view.values.width);
  for (const MagnitudeCase& magnitude : kMagnitudes) {
    if (!c.has(magnitude.tensor)) continue;
    for (int j = 0; j < view.candidates(); ++j) {
      read_row(view.values, j, value.data());
      const double want = c[magnitude.tensor].at(row, head, j);
      ASSERT_NEAR(kernels::value_magnitude(magnitude.kind, value), want, magnitude.tolerance * want)
          << magnitude.tensor << " " << j;
    }
  }
}

TEST(GoldenPrimitives, AttentionAndMagnitudes) {
  VASE_SKIP_WITHOUT_GOLDEN();
  const auto names = cases("primitives/");
  EXPECT_EQ(names.size(), 6u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    Case c(name);
    for (int row = 0; row < c.param("B"); ++row) {
      for (int head = 0; head < c.param("H"); ++head) {
        const auto queries = window_queries(c, row, head, 0);
        const Head input(c, row, head, first_tokens(c.param("C")), queries, RowType::kF32);
        check_attention(c, input.view(), row, head);
        check_attention_per_query_head(c, input.view(), queries, row, head);
        check_magnitudes(c, input.view(), row, head);
      }
    }
  }
}

}  // namespace
}  // namespace vase::golden
