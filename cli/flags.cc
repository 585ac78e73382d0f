#include "flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "output.h"
#include "policies/words.h"
#include "text/stream.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostPositions = 1 << 24;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

template <typename T>
bool read_all(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Six digits of what is below one: a limit that is a float has no more.
std::string shown(double value) {
  if (value >= 1 || value == 0) return formatted("%.10g", value);
  return value < 1e-3 ? formatted("%.6f", value) : formatted("%.6g", value);
}

// "uniform", "pyramid" or "pyramid:BETA".
void parse_layers(const std::string& text, CacheOptions& options) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name != "pyramid" && text != "uniform") fail_unknown("value of --kv-layers", text, {"uniform", "pyramid"});
  options.layer_budgets = name == "pyramid" ? LayerBudgets::kPyramid : LayerBudgets::kUniform;
  if (colon == std::string::npos) return;
  options.pyramid_beta = static_cast<float>(parse_number("the beta of --kv-layers", text.substr(colon + 1), 1, 1000));
}

double parse_megabytes(const std::string& text) { return parse_number("--kv-budget-mb", text, 1e-3, 1e9); }

RowType parse_row_type(const std::string& name) {
  std::vector<std::string_view> names;
  for (const RowType type : kCacheTypes) {
    if (name == row_type_name(type)) return type;
    names.push_back(row_type_name(type));
  }
  fail_unknown("value of --kv-type", name, names);
}

// Short names are those of llama.cpp, the same wherever the flag is.
constexpr std::pair<std::string_view, std::string_view> kShortNames[] = {
    {"--model", "-m"}, {"--max-tokens", "-n"}, {"--ctx", "-c"}, {"--threads", "-t"}};

// "-m,--model" for "--model", as CLI11 takes names.
std::string all_names(const std::string& flag) {
  const auto* const found = std::ranges::find(kShortNames, flag, [](const auto& names) { return names.first; });
  return found == std::end(kShortNames) ? flag : std::string(found->second) + "," + flag;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11 would take the next argument as the value of "--flag=".
void refuse_empty_values(const CLI::App& app, const Arguments& arguments) {
  const std::vector<std::string> flags = flag_names(app);
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    for (const std::string& flag : flags) {
      if (argument == flag + "=") fail(argument + " has no value; give one, or leave the flag out");
    }
  }
}

void check_extras(const CLI::App& app) {
  const std::vector<std::string> flags = flag_names(app);
  const std::vector<std::string_view> names(flags.begin(), flags.end());
  std::vector<std::string> extras = app.remaining();
  const auto mark = std::ranges::find(extras, "--");  // no flags after it
  for (auto extra = extras.begin(); extra != mark; ++extra) {
    if (extra->size() < 2 || extra->front() != '-') continue;
    const std::string name = extra->substr(0, extra->find('='));
    // With the namespace, since the compiler looks into std as well.
    fail("unknown flag " + vase::quoted(name) + "; did you mean " + std::string(nearest(name, names)) +
         "? `vase " + app.get_name() + " --help` lists them");
  }
  if (mark != extras.end()) extras.erase(mark);
  if (!extras.empty()) {
    fail("unexpected argument " + vase::quoted(extras[0]) + "; put a text of several words in quotes");
  }
}

}  // namespace

void fail_unknown(std::string_view kind, std::string_view word, const std::vector<std::string_view>& names) {
  fail(unknown_name(word, kind, names));
}

int parse_integer(const std::string& flag, const std::string& text, int low, int high) {
  int value = 0;
  if (!read_all(text, value) || value < low || value > high) {
    fail(flag + " is " + vase::quoted(text) + "; allowed: whole numbers from " + std::to_string(low) +
         " to " + std::to_string(high));
  }
  return value;
}

double parse_number(const std::string& flag, const std::string& text, double low, double high) {
  double value = 0;
  if (!read_all(text, value) || !(value >= low && value <= high)) {
    fail(flag + " is " + vase::quoted(text) + "; allowed: numbers from " + shown(low) + " to " + shown(high));
  }
  return value;
}

uint64_t parse_seed(const std::string& flag, const std::string& text, const char* also) {
  uint64_t value = 0;
  if (!read_all(text, value)) {
    fail(flag + " is " + vase::quoted(text) + "; allowed: whole numbers from 0 to 18446744073709551615" + also);
  }
  return value;
}

float parse_temperature(const std::string& flag, const std::string& text) {
  try {
    if (parse_number(flag, text, 0, 100) == 0) return 0;
    return static_cast<float>(parse_number(flag, text, 1e-3, 100));
  } catch (const Error&) {
    fail(flag + " is " + vase::quoted(text) + "; allowed: 0 (always the most probable token), or 0.001 to 100");
  }
}

// The tokenizer would refuse it as well, but after the model was loaded, and without the source's name.
void check_utf8(const std::string& source, std::string_view bytes) {
  if (const size_t at = text::find_invalid_utf8(bytes); at != std::string_view::npos) {
    fail(source + " is not valid UTF-8 at byte " + std::to_string(at) + "; give it as UTF-8");
  }
}

void check_stops(const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    if (stop.empty()) fail("--stop is empty; give at least one character");
    check_utf8("--stop", stop);
  }
}

void parse_kv_type(const std::string& text, CacheOptions& options) {
  options.auto_types = text == "auto";
  if (options.auto_types) return;
  const size_t comma = text.find(',');
  options.key_type = parse_row_type(text.substr(0, comma));
  options.value_type = comma == std::string::npos ? options.key_type : parse_row_type(text.substr(comma + 1));
}

void add_call(CLI::App& app, const std::string& flag, std::function<void(const std::string&)> set,
              const std::string& help) {
  app.add_option_function<std::string>(all_names(flag), std::move(set), help)->type_name("");
}

void add_text(CLI::App& app, const std::string& flag, std::string& value, const std::string& help) {
  app.add_option(flag, value, help)->type_name("");
}

void add_repeatable(CLI::App& app, const std::string& flag, std::vector<std::string>& values, const std::string& help) {
  app.add_option(flag, values, help)->type_name("")->allow_extra_args(false);
}

void add_budgets(CLI::App& app, std::vector<int>& budgets) {
  add_call(
      app, "--kv-budget",
      [&budgets](const std::string& text) { budgets.push_back(parse_integer("--kv-budget", text, 1, kMostPositions)); },
      "tokens kept per layer and KV head after an eviction; repeatable (128)");
  app.get_option("--kv-budget")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->allow_extra_args(false)
      ->trigger_on_parse();
}

void add_path(CLI::App& app, const std::string& flag, std::string& value, const std::string& help) {
  add_call(
      app, flag,
      [flag, &value](const std::string& text) {
        if (text.empty()) fail(flag + " is empty; give the name of a file, or leave the flag out");
        value = text;
      },
      help);
}

void add_integer(CLI::App& app, const std::string& flag, int& value, int low, int high,
                 const std::string& help) {
  add_call(
      app, flag, [=, &value](const std::string& text) { value = parse_integer(flag, text, low, high); },
      help);
}

void add_stop_loops(CLI::App& app, int& repeats) {
  add_integer(app, "--stop-loops", repeats, 3, 1000,
              "end a text that repeats one block of tokens exactly, N times in a row: at most 2048 tokens each, "
              "at least 512 together (off)");
}

void add_number(CLI::App& app, const std::string& flag, float& value, float low, float high,
                const std::string& help) {
  add_call(
      app, flag,
      [=, &value](const std::string& text) {
        value = static_cast<float>(parse_number(flag, text, low, high));
      },
      help);
}

void add_seed(CLI::App& app, const std::string& flag, uint64_t& value, const std::string& help) {
  add_call(
      app, flag, [=, &value](const std::string& text) { value = parse_seed(flag, text); }, help);
}

void add_random_seed(CLI::App& app, const std::string& flag, std::optional<uint64_t>& value, const std::string& help) {
  add_call(
      app, flag,
      [=, &value](const std::string& text) {
        value.reset();
        if (text != "-1") value = parse_seed(flag, text, ", or -1 for a random one");
      },
      help);
}

void add_megabytes(CLI::App& app, std::vector<double>& budgets) {
  add_call(
      app, "--kv-budget-mb",
      [&budgets](const std::string& text) { budgets.push_back(parse_megabytes(text)); },
      "instead: MiB for everything, rows, metadata, scratch; repeatable");
  app.get_option("--kv-budget-mb")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->allow_extra_args(false)
      ->trigger_on_parse()
      ->excludes("--kv-budget");
}

void CacheFlags::add_memory(CLI::App& app) {
  add_integer(app, "--kv-budget", options.budget, 1, kMostPositions,
              "tokens kept per layer and KV head after an eviction (1024)");
  add_call(
      app, "--kv-budget-mb",
      [this](const std::string& text) {
        options.budget_mib = parse_megabytes(text);
      },
      "the same as MiB for everything: rows, metadata, scratch");
  app.get_option("--kv-budget-mb")->excludes("--kv-budget");
  add_slots(app);
  add_integer(app, "--ctx", options.context, 1, kMostPositions,
              "positions that the text may reach; costs no memory unless --policy full");
}

void CacheFlags::add_slots(CLI::App& app) {
  const bool megabytes = app.get_option_no_throw("--kv-budget-mb") != nullptr;
  add_integer(app, "--kv-buffer", options.buffer, 1, 1 << 16,
              "newest tokens that always stay (64)");
  add_integer(app, "--kv-period", options.period, 1, 1 << 16,
              "tokens from one eviction to the next; absent: as many as --kv-buffer");
  add_call(
      app, "--kv-layers", [this](const std::string& text) { parse_layers(text, options); },
      "budgets of layers: uniform, or pyramid:BETA, falling to (budget - buffer) / BETA + buffer in the last; BETA 20 "
      "when absent (uniform)");
  add_choice<bool>(app, "--kv-stagger", options.stagger, {{"on", true}, {"off", false}},
                   "layers evict at different steps, so that none stalls, or all in the same step (on)");
  add_call(
      app, "--kv-type",
      [this](const std::string& text) {
        parse_kv_type(text, options);
        types_given = true;
      },
      std::string("rows of keys and values: f32, f16, bf16, q8_0 or q4_0 for both, or K,V") +
          (megabytes ? "; auto: what --kv-budget-mb buys (auto with it, else f16)" : " (f16)"));
  add_repeatable(app, "--protect", protect, "add a protect rule, e.g. prompt; repeatable");
}

void CacheFlags::add_policy(CLI::App& app) {
  add_text(app, "--policy", policy,
           "what to keep: a preset or protect=... score=... select=... (vase)");
}

void CacheFlags::add_timing(CLI::App& app) {
  add_choice<Prefill>(app, "--prefill", options.prefill,
                      {{"evict", Prefill::kEvicting}, {"dense", Prefill::kDense}},
                      "evict while the prompt comes in, or store it whole first (evict)");
  add_choice<Trigger>(app, "--trigger", options.trigger,
                      {{"general", Trigger::kGeneral}, {"parity", Trigger::kParity}},
                      "when a head evicts: at M + period slots, or by the authors' rule (general)");
  add_choice<Positions>(app, "--positions", options.positions,
                        {{"text", Positions::kText}, {"cache", Positions::kCache}},
                        "keys keep their position in the text, or move up so that there are no gaps (text)");
}

void CacheFlags::settle_types(bool megabytes, bool evicts) {
  if (megabytes && evicts && !types_given) options.auto_types = true;
  if (!options.auto_types || megabytes) return;
  fail("--kv-type auto chooses what megabytes buy and needs --kv-budget-mb; give it, or name the type, such as q8_0");
}

std::string CacheFlags::with_rules(const std::string& name) const {
  std::string text;
  std::istringstream words(name);
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  for (const std::string& rules : protect) {
    if (rules.empty() || rules.find_first_of(" \t\r\n") != std::string::npos) {
      fail("--protect is " + vase::quoted(rules) +
           "; allowed: rules without blanks, e.g. prompt or sinks:8,prompt");
    }
    text += " protect+=" + rules;
  }
  return text;
}

Policy CacheFlags::parse_policy(const std::string& name) const { return Policy::parse(with_rules(name)); }

Policy CacheFlags::parse_evicting(const std::string& name) const {
  Policy parsed = parse_policy(name);
  if (!parsed.evicts())
    fail("--policy " + vase::quoted(name) + " never evicts, so there is nothing to compare; leave it out");
  return parsed;
}

bool is_given(const CLI::App& app, const char* flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  return option && option->count() > 0;
}

void CacheFlags::refuse_idle(const CLI::App& app, bool reads) const {
  for (const CacheFlag& flag : kCacheFlags) {
    if (flag.without_evictions == WithoutEvictions::kWorks || !is_given(app, flag.name)) continue;
    const std::string name = flag.name;
    if (reads && name == "--kv-budget") continue;
    const bool sizes = !reads && flag.without_evictions == WithoutEvictions::kNoSize;
    fail((reads ? "a policy that reads never evicts, so " : "--policy full never evicts, so ") + name +
         " does nothing; " + (sizes ? "use --ctx or --kv-budget-mb" : "leave it out"));
  }
}

bool parse(CLI::App& app, const Arguments& arguments) {
  app.allow_extras();
  refuse_empty_values(app, arguments);
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // CLI11 wants the last argument first
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return false;
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string message = e.what(), flag = message.substr(0, message.find(':'));
    const bool repeated = message.find("At Most") != std::string::npos;
    fail(flag +
         (repeated ? " is given more than once; give it once" : " has no value; give one, or leave the flag out"));
  } catch (const CLI::ParseError& e) {
    const std::string message = e.what();
    fail(message.substr(0, message.find('\n')));
  }
  check_extras(app);
  return true;
}

int run_subcommand(const std::string& command, std::initializer_list<Subcommand> commands, const Arguments& arguments) {
  std::string usage = "usage: vase " + command + " <command> [flags]\n\n";
  for (const Subcommand& one : commands) usage += formatted("  %-9s  %s\n", one.name, one.summary);
  usage += "\n`vase " + command + " <command> --help` lists the flags.\n";
  if (arguments.empty()) {
    std::fputs(usage.c_str(), stderr);
    return kExitUsage;
  }
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    write_output(usage);
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const Subcommand& one : commands) {
    if (arguments[0] == one.name) return one.run(Arguments(arguments.begin() + 1, arguments.end()));
    names.push_back(one.name);
  }
  fail_unknown("command of " + command, arguments[0], names);
}

}  // namespace vase::cli
