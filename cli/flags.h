// Reading flag values: every error is one line that gives the flag, the value and what is allowed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.h"
#include "vase/options.h"
#include "vase/policy.h"

namespace vase::cli {

// Throws Error(kUsage): "unknown <kind> 'x'; did you mean 'y'? There are: a, b, c".
[[noreturn]] void fail_unknown(std::string_view kind, std::string_view word,
                               const std::vector<std::string_view>& names);

// Throw Error(kUsage). Ranges are inclusive.
int parse_integer(const std::string& flag, const std::string& text, int low, int high);
double parse_number(const std::string& flag, const std::string& text, double low, double high);
// 0 to 2^64 - 1. also: what else the flag takes, for the message.
uint64_t parse_seed(const std::string& flag, const std::string& text, const char* also = "");

// 0 or 0.001 to 100.
float parse_temperature(const std::string& flag, const std::string& text);

// Throw Error(kUsage) for what is no text, before anything else is done with it. source: what to call it in the
// message.
void check_utf8(const std::string& source, std::string_view bytes);
void check_stops(const std::vector<std::string>& stops);  // of --stop

// "f16" or "f32" for keys and values, or "K,V"; "auto" leaves them to the megabytes.
void parse_kv_type(const std::string& text, CacheOptions& options);

// Flags whose text is checked when it is read. --model, --max-tokens, --ctx and --threads also go by llama.cpp's
// letters.
void add_integer(CLI::App& app, const std::string& flag, int& value, int low, int high,
                 const std::string& help);
void add_number(CLI::App& app, const std::string& flag, float& value, float low, float high,
                const std::string& help);
void add_seed(CLI::App& app, const std::string& flag, uint64_t& value, const std::string& help);
// Of what need not be had again: empty for -1, which asks for a random one.
void add_random_seed(CLI::App& app, const std::string& flag, std::optional<uint64_t>& value, const std::string& help);
void add_text(CLI::App& app, const std::string& flag, std::string& value, const std::string& help);
// The name of a file, which is never empty.
void add_path(CLI::App& app, const std::string& flag, std::string& value, const std::string& help);
// A flag that may be given several times, each time with one value.
void add_repeatable(CLI::App& app, const std::string& flag, std::vector<std::string>& values, const std::string& help);
// --kv-budget, as often as there are budgets to compare.
void add_budgets(CLI::App& app, std::vector<int>& budgets);
// --kv-budget-mb in place of it, as often as there are sizes to compare. After add_budgets().
void add_megabytes(CLI::App& app, std::vector<double>& budgets);
// --stop-loops, which is off unless it is given.
void add_stop_loops(CLI::App& app, int& repeats);
// Sets a value by calling `set` with the text of the flag.
void add_call(CLI::App& app, const std::string& flag, std::function<void(const std::string&)> set,
              const std::string& help);

// A flag that takes one of several names.
template <typename T>
void add_choice(CLI::App& app, const std::string& flag, T& value,
                std::vector<std::pair<std::string, T>> choices, const std::string& help) {
  add_call(
      app, flag,
      [flag, &value, choices](const std::string& text) {
        std::vector<std::string_view> names;
        for (const auto& [name, choice] : choices) {
          if (name == text) {
            value = choice;
            return;
          }
          names.push_back(name);
        }
        fail_unknown("value of " + flag, text, names);
      },
      help);
}

// What a flag of a cache does where nothing is evicted.
enum class WithoutEvictions : uint8_t {
  kWorks,
  kNoSize,  // nothing: --ctx or --kv-budget-mb say how much is held
  kNothing,
};

// Every flag that shapes a cache, which is what a preset sets in their place.
struct CacheFlag {
  const char* name;
  WithoutEvictions without_evictions;
};
inline constexpr CacheFlag kCacheFlags[] = {
    {"--policy", WithoutEvictions::kWorks},       {"--kv-budget", WithoutEvictions::kNoSize},
    {"--kv-budget-mb", WithoutEvictions::kWorks}, {"--kv-buffer", WithoutEvictions::kNoSize},
    {"--kv-period", WithoutEvictions::kNoSize},   {"--kv-layers", WithoutEvictions::kNoSize},
    {"--kv-stagger", WithoutEvictions::kNothing}, {"--kv-type", WithoutEvictions::kWorks},
    {"--protect", WithoutEvictions::kNoSize},     {"--prefill", WithoutEvictions::kNothing},
    {"--trigger", WithoutEvictions::kNothing},    {"--positions", WithoutEvictions::kNothing}};

// Whether a flag is on the command line; false for one that the command does not have.
bool is_given(const CLI::App& app, const char* flag);

// The flags that decide what a cache holds and costs; each stands in kCacheFlags, but for --ctx.
struct CacheFlags {
  CacheOptions options;
  std::string policy = "vase";
  bool types_given = false;          // --kv-type was
  std::vector<std::string> protect;  // rules added to the policy's own, or in place of those of the same name

  // What memory costs and holds; the policy; when evictions happen.
  void add_memory(CLI::App& app);  // budget, context, and add_slots()
  void add_slots(CLI::App& app);   // everything but the size, which comes first if at all
  void add_policy(CLI::App& app);
  void add_timing(CLI::App& app);

  // The policy's text with the rules of --protect, which are a part of what it is called, and one blank between two words:
  // it is called so in one line of a table. Throws Error(kUsage).
  std::string with_rules(const std::string& name) const;
  Policy parse_policy() const { return parse_policy(policy); }
  Policy parse_policy(const std::string& name) const;  // another one with these flags
  // The same; throws Error(kUsage) when it does not evict.
  Policy parse_evicting(const std::string& name) const;
  // megabytes: they are given, and decide on the types of rows as well where something is evicted, unless --kv-type
  // was given. Throws Error(kUsage) when types are left to megabytes that are not given.
  void settle_types(bool megabytes, bool evicts = true);
  // Throws Error(kUsage) when a flag is given that has no effect without evictions; a policy that reads has a budget.
  void refuse_idle(const CLI::App& app, bool reads) const;
};

// Parses; false when help was asked for and has been printed. Throws Error(kUsage), for unknown flags with
// the nearest name.
bool parse(CLI::App& app, const Arguments& arguments);

// A command of a command, as `kl` in `vase eval kl`.
struct Subcommand {
  const char* name;
  const char* summary;
  int (*run)(const Arguments&);
};
// Runs the one that the first argument names with the arguments behind it, or tells what there is. Throws
// Error(kUsage) for another name.
int run_subcommand(const std::string& command, std::initializer_list<Subcommand> commands, const Arguments& arguments);

}  // namespace vase::cli
