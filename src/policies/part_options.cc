#include "policies/part_options.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace vase {
namespace {

// The whole of text as a number, or nothing.
template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string Amount::text() const { return shortest(value) + (is_percent ? "%" : ""); }

PartOptions::PartOptions(Word name, std::span<const Word> options) : name_(name) {
  for (const Word& option : options) {
    const size_t equals = option.text.find('=');
    const bool bare = equals == std::string_view::npos;
    const Option parsed = {bare ? option : option.part(0, equals), bare ? option : option.part(equals + 1), bare};
    for (const Option& earlier : options_) {
      if (earlier.key.text == parsed.key.text) fail_at(option, label(parsed.key.text) + " is given twice");
    }
    options_.push_back(parsed);
  }
}

std::string PartOptions::label(std::string_view key) const {
  return quoted(name_.text) + (key.empty() ? "" : " option " + quoted(key));
}

const PartOptions::Option* PartOptions::find(std::string_view key) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& o) { return key.empty() ? o.bare : o.key.text == key; });
  return found == options_.end() ? nullptr : &*found;
}

const PartOptions::Option* PartOptions::read(std::string_view key) {
  if (!key.empty()) known_.push_back(key);
  const Option* option = find(key);
  if (option) options_[option - options_.data()].read = true;
  return option;
}

bool PartOptions::has(std::string_view key) const { return find(key) != nullptr; }

int PartOptions::integer(std::string_view key, int fallback, int low, int high) {
  const Option* option = read(key);
  if (!option) return fallback;
  const auto value = number<int>(option->value.text);
  if (!value || *value < low || *value > high) {
    fail_at(option->value, label(key) + " takes a whole number from " + std::to_string(low) + " to " +
                               std::to_string(high) + ", not " + quoted(option->value.text));
  }
  return *value;
}

double PartOptions::real(std::string_view key, double fallback, double low, double high) {
  const Option* option = read(key);
  if (!option) return fallback;
  const auto value = number<double>(option->value.text);
  if (!value || !(*value >= low && *value <= high)) {
    fail_at(option->value, label(key) + " takes a number from " + shortest(low) + " to " + shortest(high) + ", not " +
                               quoted(option->value.text));
  }
  return *value;
}

std::string PartOptions::file(std::string_view key) {
  const Option* option = read(key);
  if (!option || option->bare || option->value.text.empty()) {
    fail_at(name_, label("") + " needs " + std::string(key) + "=FILE");
  }
  return std::string(option->value.text);
}

Amount PartOptions::amount(std::string_view key, Amount fallback) {
  const Option* option = read(key);
  if (!option) return fallback;
  std::string_view text = option->value.text;
  const bool is_percent = text.ends_with('%');
  if (is_percent) {
    const auto percent = number<double>(text.substr(0, text.size() - 1));
    if (percent && *percent >= 0 && *percent <= 100) return {true, *percent};
  } else {
    const auto count = number<int>(text);
    if (count && *count >= 0 && *count <= kMaxTokens) return {false, static_cast<double>(*count)};
  }
  fail_at(option->value, label(key) + " takes a number of tokens from 0 to " + std::to_string(kMaxTokens) +
                             " or a percentage of the budget from 0% to 100%, not " + quoted(text));
}

size_t PartOptions::choice(std::string_view key, size_t fallback, std::span<const std::string_view> names) {
  const Option* option = read(key);
  if (!option) return fallback;
  const auto found = std::find(names.begin(), names.end(), option->value.text);
  if (found == names.end()) fail_unknown(option->value, label(key) + " value", names);
  return found - names.begin();
}

bool PartOptions::on_off(std::string_view key, bool fallback) {
  static constexpr std::array<std::string_view, 2> kNames = {"off", "on"};
  const Option* option = find(key);
  if (!option || !option->bare) return choice(key, fallback, kNames) == 1;
  read(key);
  return true;
}

bool PartOptions::off(std::string_view key) {
  const Option* option = find(key);
  return option && option->value.text == "off" && read(key);
}

void PartOptions::finish() const {
  for (const Option& option : options_) {
    if (option.read) continue;
    if (known_.empty()) fail_at(option.key, label("") + " takes no option " + quoted(option.key.text));
    fail_unknown(option.key, label("") + " option", known_);
  }
}

}  // namespace vase
