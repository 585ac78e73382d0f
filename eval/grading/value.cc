#include "eval/grading/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "eval/grading/notation.h"

namespace vase::eval::grading {
namespace {

using Complex = std::complex<double>;
__extension__ using Wide = unsigned __int128;

uint64_t times(uint64_t a, uint64_t b) { return static_cast<uint64_t>(static_cast<Wide>(a) * b % kPrime); }

uint64_t to_power(uint64_t base, uint64_t exponent) {
  uint64_t all = 1;
  for (; exponent > 0; exponent >>= 1, base = times(base, base)) {
    if (exponent & 1) all = times(all, base);
  }
  return all;
}

uint64_t inverse(uint64_t a) { return to_power(a, kPrime - 2); }
uint64_t minus(uint64_t a) { return a == 0 ? 0 : kPrime - a; }

// All digits of the text, whatever stands between them.
uint64_t image_of_digits(std::string_view text) {
  uint64_t all = 0;
  for (char c : text) {
    if (is_digit(c)) all = (times(all, 10) + static_cast<uint64_t>(c - '0')) % kPrime;
  }
  return all;
}

size_t decimals(std::string_view text) {
  const size_t point = text.find('.');
  return point == std::string_view::npos ? 0 : text.size() - point - 1;
}

double close_to(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool large = text.substr(0, text.find('.')).find_first_not_of('0') != std::string_view::npos;
  return error == std::errc::result_out_of_range && large ? std::numeric_limits<double>::infinity() : value;
}

// "0.1(6)" = (16 - 1) / 90
Value repeating_number(std::string_view text) {
  const size_t open = text.find('(');
  const std::string_view head = text.substr(0, open);
  const std::string period(text.substr(open + 1, text.size() - open - 2));
  std::string long_text(head);
  while (long_text.size() < head.size() + 20) long_text += period;
  const uint64_t difference = (image_of_digits(text) + minus(image_of_digits(head))) % kPrime;
  const uint64_t nines = (to_power(10, period.size()) + kPrime - 1) % kPrime;
  const uint64_t below = times(nines, to_power(10, decimals(head)));
  return {close_to(long_text), times(difference, inverse(below))};
}

// An imaginary part of -0 would turn the sign of a root.
Complex tidy(const Complex& a) { return a.imag() == 0 ? Complex(a.real()) : a; }

bool is_real(const Complex& a) { return a.imag() == 0; }

bool is_finite(const Complex& a) { return std::isfinite(a.real()) && std::isfinite(a.imag()); }

std::optional<Value> usable(Value a) { return is_usable(a) ? std::optional(a) : std::nullopt; }

std::optional<Value> whole_power(const Value& base, int64_t exponent) {
  if (exponent == 0) return whole(1);
  const bool zero = base.exact ? *base.exact == 0 : base.close == 0.0;
  if (zero && exponent < 0) return std::nullopt;
  Value all;
  all.close = is_real(base.close) ? Complex(std::pow(base.close.real(), static_cast<double>(exponent)))
                                  : tidy(std::pow(base.close, static_cast<double>(exponent)));
  if (base.exact) {
    const uint64_t raised = to_power(*base.exact, static_cast<uint64_t>(std::abs(exponent)));
    all.exact = exponent < 0 ? inverse(raised) : raised;
  }
  return usable(all);
}

// The real power of a negative number to p/q; empty when the exponent is no such fraction with a small odd q.
std::optional<double> odd_root(double base, double exponent) {
  for (int q = 3; q <= 31; q += 2) {
    const double p = exponent * q;
    if (std::abs(p - std::round(p)) > 1e-9 || std::abs(p) > 1e6) continue;
    const double size = std::pow(-base, exponent);
    return std::fmod(std::round(p), 2) == 0 ? size : -size;
  }
  return std::nullopt;
}

}  // namespace

Value whole(int64_t n) {
  const uint64_t size = static_cast<uint64_t>(std::abs(n)) % kPrime;
  return {static_cast<double>(n), n < 0 ? minus(size) : size};
}

Value number(std::string_view digits) {
  if (digits.find('(') != std::string_view::npos) return repeating_number(digits);
  const uint64_t below = to_power(10, decimals(digits));
  return {close_to(digits), times(image_of_digits(digits), inverse(below))};
}

Value imaginary_unit() { return {Complex(0, 1), kRootOfMinusOne}; }

Value negative(const Value& a) {
  Value all{tidy(-a.close), {}};
  if (a.exact) all.exact = minus(*a.exact);
  return all;
}

Value sum(const Value& a, const Value& b) {
  Value all{tidy(a.close + b.close), {}};
  if (a.exact && b.exact) all.exact = (*a.exact + *b.exact) % kPrime;
  return all;
}

Value product(const Value& a, const Value& b) {
  Value all;
  all.close = is_real(a.close)   ? a.close.real() * b.close
              : is_real(b.close) ? a.close * b.close.real()
                                 : a.close * b.close;
  all.close = tidy(all.close);
  if (a.exact && b.exact) all.exact = times(*a.exact, *b.exact);
  return all;
}

std::optional<Value> quotient(const Value& a, const Value& b) {
  if (b.exact ? *b.exact == 0 : b.close == 0.0) return std::nullopt;
  Value all;
  all.close = tidy(is_real(b.close) ? a.close / b.close.real() : a.close / b.close);
  if (a.exact && b.exact) all.exact = times(*a.exact, inverse(*b.exact));
  return usable(all);
}

std::optional<Value> power(const Value& base, const Value& exponent) {
  if (const auto n = as_whole(exponent)) return whole_power(base, *n);
  if (base.close == 0.0) return exponent.close.real() > 0 ? std::optional(whole(0)) : std::nullopt;
  if (is_real(base.close) && is_real(exponent.close)) {
    const double b = base.close.real(), e = exponent.close.real();
    if (b > 0) return usable({std::pow(b, e), {}});
    if (const auto root = odd_root(b, e)) return usable({*root, {}});
  }
  return usable({tidy(std::pow(base.close, exponent.close)), {}});
}

std::optional<int64_t> as_whole(const Value& a) {
  constexpr double kLargest = 9007199254740992;  // 2^53
  const double value = a.close.real();
  if (!is_real(a.close) || !(std::abs(value) <= kLargest) || value != std::floor(value)) return std::nullopt;
  const auto n = static_cast<int64_t>(value);
  if (a.exact && *a.exact != *whole(n).exact) return std::nullopt;
  return n;
}

bool is_usable(const Value& a) { return a.exact || is_finite(a.close); }

bool same_value(const Value& a, const Value& b) {
  const auto within = [&](double relative, double absolute) {
    return std::abs(a.close - b.close) <= relative * std::max(std::abs(a.close), std::abs(b.close)) + absolute;
  };
  if (a.exact && b.exact) {
    // The closeness tells a multiple of the prime from zero.
    return *a.exact == *b.exact && (!is_finite(a.close) || !is_finite(b.close) || within(1e-6, 1e-6));
  }
  if (!is_finite(a.close) || !is_finite(b.close)) return a.close == b.close;
  return within(1e-9, 1e-12);
}

}  // namespace vase::eval::grading
