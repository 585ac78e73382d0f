#include "eval/grading/functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace vase::eval::grading {
namespace {

using Complex = std::complex<double>;
using Result = std::optional<Value>;

constexpr int64_t kMostFactors = 2000;  // of a factorial that is multiplied out

struct Function {
  std::string_view name;
  Complex (*value)(const Complex&);
  bool angular = false;
};

const Function kFunctions[] = {{"sin", [](const Complex& x) { return std::sin(x); }, true},
                               {"cos", [](const Complex& x) { return std::cos(x); }, true},
                               {"tan", [](const Complex& x) { return std::tan(x); }, true},
                               {"cot", [](const Complex& x) { return std::cos(x) / std::sin(x); }, true},
                               {"sec", [](const Complex& x) { return 1.0 / std::cos(x); }, true},
                               {"csc", [](const Complex& x) { return 1.0 / std::sin(x); }, true},
                               {"arcsin", [](const Complex& x) { return std::asin(x); }},
                               {"arccos", [](const Complex& x) { return std::acos(x); }},
                               {"arctan", [](const Complex& x) { return std::atan(x); }},
                               {"sinh", [](const Complex& x) { return std::sinh(x); }},
                               {"cosh", [](const Complex& x) { return std::cosh(x); }},
                               {"tanh", [](const Complex& x) { return std::tanh(x); }},
                               {"ln", [](const Complex& x) { return std::log(x); }},
                               {"log", [](const Complex& x) { return std::log(x) / std::log(10.0); }},
                               {"lg", [](const Complex& x) { return std::log(x) / std::log(10.0); }},
                               {"exp", [](const Complex& x) { return std::exp(x); }}};

const Function* find(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Function::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

Result usable(const Complex& close) {
  const Value all{close, {}};
  return is_usable(all) ? Result(all) : std::nullopt;
}

Result absolute(const Value& a) {
  if (a.close.imag() != 0) return usable(std::abs(a.close));
  return a.close.real() < 0 ? negative(a) : a;
}

Result factorial(const Value& a) {
  const auto n = as_whole(a);
  if (!n) return a.close.imag() == 0 ? usable(std::tgamma(a.close.real() + 1)) : std::nullopt;
  if (*n < 0 || *n > kMostFactors) return std::nullopt;
  Value all = whole(1);
  for (int64_t i = 2; i <= *n; ++i) all = product(all, whole(i));
  return all;
}

// a (a - 1) ... (a - k + 1) / k!
Result binomial(const Value& a, const Value& b) {
  const auto k = as_whole(b);
  if (!k || *k < 0 || *k > kMostFactors) return std::nullopt;
  Value all = whole(1);
  for (int64_t i = 0; i < *k; ++i) {
    const Result next = quotient(product(all, sum(a, whole(-i))), whole(i + 1));
    if (!next) return std::nullopt;
    all = *next;
  }
  return all;
}

Result rounded(const Value& a, double (*direction)(double)) {
  constexpr double kLargest = 9007199254740992;  // 2^53
  if (a.close.imag() != 0 || !(std::abs(a.close.real()) <= kLargest)) return std::nullopt;
  return whole(static_cast<int64_t>(direction(a.close.real())));
}

Result logarithm(const Value& a, const Value& base) { return usable(std::log(a.close) / std::log(base.close)); }

Result root(const Value& a, const Value& degree) {
  const Result exponent = quotient(whole(1), degree);
  return exponent ? power(a, *exponent) : std::nullopt;
}

}  // namespace

bool is_angular(std::string_view name) {
  const Function* function = find(name);
  return function && function->angular;
}

std::optional<Value> function_value(std::string_view name, std::span<const Value> arguments) {
  const Value& a = arguments[0];
  if (arguments.size() == 2) {
    if (name == "root") return root(a, arguments[1]);
    if (name == "log") return logarithm(a, arguments[1]);
    if (name == "binom") return binomial(a, arguments[1]);
    return std::nullopt;
  }
  if (name == "abs") return absolute(a);
  if (name == "factorial") return factorial(a);
  if (name == "floor") return rounded(a, [](double x) { return std::floor(x); });
  if (name == "ceil") return rounded(a, [](double x) { return std::ceil(x); });
  const Function* function = find(name);
  return function ? usable(function->value(a.close)) : std::nullopt;
}

}  // namespace vase::eval::grading
