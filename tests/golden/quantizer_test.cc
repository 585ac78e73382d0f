// The quantiser of values against the reference library's codes, zeros and errors.
#include "eval/value_quantizer.h"

#include <cmath>

#include "eval/statistics.h"
#include "golden/golden_case.h"

namespace vase::golden {
namespace {

// The rows of x behind the first tokens, which the reference leaves out: [H x tokens][d].
std::vector<float> rows_behind_sinks(const Case& c) {
  std::vector<float> values;
  for (int head = 0; head < c.param("H"); ++head) {
    for (int token = c.param("n_sink"); token < c.param("tokens"); ++token) {
      const std::vector<float> row = c["x"].row(head, token);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

template <typename Values>
void expect_near(const Values& got, const Tensor& want, double absolute, double relative, const char* what) {
  ASSERT_EQ(got.size(), want.data.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want.data[i], std::max(absolute, relative * std::fabs(want.data[i]))) << what << " " << i;
  }
}

double mean_error(const std::vector<float>& values, const eval::QuantizedValues& quantized) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += std::abs(values[i] - quantized.decoded(i));
  return sum / static_cast<double>(values.size());
}

void check_unrefined(const Case& c, const std::vector<float>& values, const eval::ValueQuantizer& quantizer) {
  const eval::QuantizedValues q = eval::quantize_values(values, c.param("d"), quantizer);
  EXPECT_TRUE(q.mean_errors.empty());
  expect_near(q.scale, c["scale"], 0, 1e-6, "scale");
  expect_near(q.zero, c["zero_unrefined"], 1e-5, 0, "unrefined zero");
  expect_near(eval::token_errors(values, q).squared_error, c["se_unrefined"], 1e-6, 1e-4, "unrefined se");
  EXPECT_NEAR(mean_error(values, q), c.json().at("results").at("mean_abs_err_unrefined").get<double>(), 1e-6);
}

void check_refined(const Case& c, const std::vector<float>& values, const eval::ValueQuantizer& quantizer) {
  const eval::QuantizedValues q = eval::quantize_values(values, c.param("d"), quantizer);
  EXPECT_EQ(static_cast<int>(q.mean_errors.size()), c.param("iterations"));
  expect_near(q.mean_errors, c["mean_abs_err"], 1e-6, 0, "error of iteration");
  expect_near(q.codes, c["codes"], 0, 0, "code");
  expect_near(q.scale, c["scale"], 0, 1e-6, "scale");
  expect_near(q.zero, c["zero"], 1e-5, 0, "zero");
  expect_near(q.zero, c["zero_f64"], 1e-5, 0, "zero in f64");
  std::vector<float> decoded;
  for (size_t i = 0; i < q.codes.size(); ++i) decoded.push_back(q.decoded(i));
  expect_near(decoded, c["xhat"], 1e-5, 1e-5, "decoded");

  const eval::TokenErrors errors = eval::token_errors(values, q);
  expect_near(errors.squared_error, c["se"], 1e-6, 1e-4, "se");
  expect_near(errors.squared_error, c["se_f64"], 1e-6, 1e-4, "se in f64");
  expect_near(errors.range, c["range"], 0, 0, "range");
  const auto& results = c.json().at("results");
  EXPECT_NEAR(mean_error(values, q), results.at("mean_abs_err").get<double>(), 1e-6);
  EXPECT_NEAR(eval::pearson(errors.squared_error, errors.range).value(),
              results.at("pearson_se_range").get<double>(), 1e-5);
}

TEST(GoldenQuantizer, EveryCase) {
  VASE_SKIP_WITHOUT_GOLDEN();
  int checked = 0;
  for (const std::string& name : cases("quantizer/")) {
    SCOPED_TRACE(name);
    const Case c(name);
    ++checked;
    const std::vector<float> values = rows_behind_sinks(c);
    const eval::ValueQuantizer plain{.bits = c.param("bits"), .group = c.param("group")};
    check_unrefined(c, values, plain);
    check_refined(c, values, {plain.bits, plain.group, c.param("max_iterations")});
  }
  EXPECT_EQ(checked, 3);
}

}  // namespace
}  // namespace vase::golden
