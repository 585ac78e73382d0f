// The text of one part, "name:value,key=value,flag", and typed access to its options.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/words.h"

namespace vase {

// The number in its shortest form that reads back as the same.
std::string shortest(double value);

// A number of tokens: fixed, or a percentage of the budget M, rounded down.
struct Amount {
  bool is_percent = false;
  double value = 0;

  int fixed_tokens() const { return is_percent ? 0 : static_cast<int>(value); }
  int tokens(int budget) const { return static_cast<int>(is_percent ? budget * value / 100 : value); }
  std::string text() const;  // "64" or "25%"
};

class PartOptions {
 public:
  static constexpr int kMaxTokens = 1 << 20;  // largest token count that any option takes

  // options: the pieces after the name: "value", "key=value" or "flag".
  PartOptions(Word name, std::span<const Word> options);

  std::string_view name() const { return name_.text; }

  // Each reads one option; a missing one gives the default. Throw Error(kUsage) that says what is allowed.
  // The key "" stands for the option without a name, as in "sinks:4".
  int integer(std::string_view key, int fallback, int low, int high);
  double real(std::string_view key, double fallback, double low, double high);
  Amount amount(std::string_view key, Amount fallback);
  std::string file(std::string_view key);  // path, as given; must be there
  bool on_off(std::string_view key, bool fallback);  // "key=on", "key=off", or "key" alone for on
  size_t choice(std::string_view key, size_t fallback, std::span<const std::string_view> names);
  bool has(std::string_view key) const;
  // Whether "key=off" is given; reads it when it is.
  bool off(std::string_view key);

  // Throws for the first option that nobody has read, naming the nearest that exists.
  void finish() const;

 private:
  struct Option {
    Word key, value;  // both are the whole word when it has no "="
    bool bare = false;
    bool read = false;
  };
  const Option* find(std::string_view key) const;
  const Option* read(std::string_view key);
  std::string label(std::string_view key) const;  // for messages

  Word name_;
  std::vector<Option> options_;
  std::vector<std::string_view> known_;  // keys asked for
};

}  // namespace vase
