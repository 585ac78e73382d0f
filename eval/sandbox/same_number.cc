#include "eval/sandbox/same_number.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace vase::eval {
namespace {

// value = digits * 10^exponent; no zeros around the digits, which are empty for zero.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What follows the e. Nine digits are enough for every output of a test.
std::optional<int64_t> parse_exponent(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > 10 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void strip_zeros(Decimal& number) {
  const size_t last = number.digits.find_last_not_of('0');
  if (last == std::string::npos) {
    number = {};
    return;
  }
  number.exponent += static_cast<int64_t>(number.digits.size() - last - 1);
  number.digits.resize(last + 1);
  number.digits.erase(0, number.digits.find_first_not_of('0'));
}

std::optional<Decimal> parse(std::string_view text) {
  Decimal number;
  if (text.starts_with('-') || text.starts_with('+')) {
    number.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool point = false;
  size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
    } else {
      number.digits += text[at];
      if (point) --number.exponent;
    }
  }
  if (number.digits.empty()) return std::nullopt;
  if (at < text.size()) {
    const std::optional<int64_t> exponent =
        text[at] == 'e' || text[at] == 'E' ? parse_exponent(text.substr(at + 1)) : std::nullopt;
    if (!exponent) return std::nullopt;
    number.exponent += *exponent;
  }
  strip_zeros(number);
  return number;
}

}  // namespace

bool same_number(std::string_view a, std::string_view b) {
  const std::optional<Decimal> first = parse(a), second = parse(b);
  return first && second && *first == *second;
}

}  // namespace vase::eval
