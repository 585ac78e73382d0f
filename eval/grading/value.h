// Numbers as answers state them: close, in double precision, and exactly where there are no roots or functions in them.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vase::eval::grading {

// Exact numbers are kept as their image in the integers modulo this prime, where division by anything else is possible
// and -1 has a square root, which stands for i. Two different numbers of an answer have the same image with a
// probability of 1 in 2^61, so sums, products, quotients and whole powers are compared exactly, however many digits
// they have.
constexpr uint64_t kPrime = 2305843009213693921;  // 2^61 - 31
constexpr uint64_t kRootOfMinusOne = 583529827753931384;

struct Value {
  std::complex<double> close;     // may be infinite when exact is there: 10^400
  std::optional<uint64_t> exact;  // modulo kPrime
};

Value whole(int64_t number);
// The text of a Kind::kNumber.
Value number(std::string_view digits);
Value imaginary_unit();

Value negative(const Value& a);
Value sum(const Value& a, const Value& b);
Value product(const Value& a, const Value& b);
// Empty where it is not defined (0 / 0, 0^-1) or too large to tell.
std::optional<Value> quotient(const Value& a, const Value& b);
// The principal value; of a negative real number to p/q with an odd q the real one, as a cube root is.
std::optional<Value> power(const Value& base, const Value& exponent);
// The whole number that this is, up to 2^53 in size.
std::optional<int64_t> as_whole(const Value& a);

// Either exact, or a finite number.
bool is_usable(const Value& a);
// Equal where both are exact, else to 9 digits (and everything below 1e-12 is zero).
bool same_value(const Value& a, const Value& b);

}  // namespace vase::eval::grading
