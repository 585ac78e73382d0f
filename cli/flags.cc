#include "flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostPositions = 1 << 24;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// names must not be empty.
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  return *std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
}

template <typename T>
bool read_all(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

RowType parse_row_type(const std::string& name) {
  if (name == "f16") return RowType::kF16;
  if (name == "f32") return RowType::kF32;
  fail_unknown("value of --kv-type", name, {"f16", "f32"});
}

void check_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const std::string& extra : extras) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const std::string name = extra.substr(0, extra.find('='));
    fail("unknown flag " + name + "; did you mean " + nearest(name, flags) + "? `vase " + app.get_name() +
         " --help` lists them");
  }
  if (!extras.empty()) fail("unexpected argument '" + extras[0] + "'; put a text of several words in quotes");
}

}  // namespace

void fail_unknown(const std::string& kind, const std::string& word, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  fail("unknown " + kind + " '" + word + "'; did you mean '" + nearest(word, names) + "'? There are: " + all);
}

int parse_integer(const std::string& flag, const std::string& text, int low, int high) {
  int value = 0;
  if (!read_all(text, value) || value < low || value > high) {
    fail(flag + " is '" + text + "'; allowed: whole numbers from " + std::to_string(low) + " to " +
         std::to_string(high));
  }
  return value;
}

double parse_number(const std::string& flag, const std::string& text, double low, double high) {
  double value = 0;
  if (!read_all(text, value) || !(value >= low && value <= high)) {
    fail(flag + " is '" + text + "'; allowed: numbers from " + shown(low) + " to " + shown(high));
  }
  return value;
}

std::optional<uint64_t> parse_seed(const std::string& flag, const std::string& text) {
  uint64_t value = 0;
  if (text == "-1") return std::nullopt;
  if (!read_all(text, value)) {
    fail(flag + " is '" + text + "'; allowed: whole numbers from 0 to 18446744073709551615, or -1 for a random one");
  }
  return value;
}

void add_call(CLI::App& app, const std::string& flag, std::function<void(const std::string&)> set,
              const std::string& help) {
  app.add_option_function<std::string>(flag, std::move(set), help)->type_name("");
}

void add_text(CLI::App& app, const std::string& flag, std::string& value, const std::string& help) {
  app.add_option(flag, value, help)->type_name("");
}

void add_integer(CLI::App& app, const std::string& flag, int& value, int low, int high, const std::string& help) {
  add_call(app, flag, [=, &value](const std::string& text) { value = parse_integer(flag, text, low, high); }, help);
}

void add_number(CLI::App& app, const std::string& flag, float& value, float low, float high, const std::string& help) {
  add_call(
      app, flag,
      [=, &value](const std::string& text) { value = static_cast<float>(parse_number(flag, text, low, high)); }, help);
}

void add_seed(CLI::App& app, const std::string& flag, std::optional<uint64_t>& value, const std::string& help) {
  add_call(app, flag, [=, &value](const std::string& text) { value = parse_seed(flag, text); }, help);
}

void CacheFlags::add_to(CLI::App& app) {
  add_integer(app, "--kv-budget", options.budget, 1, kMostPositions,
              "tokens kept per layer and KV head after an eviction (1024)");
  add_call(
      app, "--kv-budget-mb",
      [this](const std::string& text) { options.budget_mib = parse_number("--kv-budget-mb", text, 1e-3, 1e9); },
      "the same as MiB for everything: rows, metadata, scratch");
  app.get_option("--kv-budget-mb")->excludes("--kv-budget");
  add_integer(app, "--kv-buffer", options.buffer, 1, 1 << 16, "newest tokens that always stay; eviction period (64)");
  add_text(app, "--policy", policy, "what to keep: a preset or protect=... score=... select=... (vase-attnv)");
  app.add_option("--protect", protect, "add a protect rule, e.g. prompt; repeatable")
      ->type_name("")
      ->allow_extra_args(false);
  add_call(
      app, "--kv-type",
      [this](const std::string& text) {
        const size_t comma = text.find(',');
        options.key_type = parse_row_type(text.substr(0, comma));
        options.value_type = comma == std::string::npos ? options.key_type : parse_row_type(text.substr(comma + 1));
      },
      "f16 or f32 for both, or K,V (f16)");
  add_choice<Prefill>(app, "--prefill", options.prefill, {{"evict", Prefill::kEvicting}, {"dense", Prefill::kDense}},
                      "evict while the prompt comes in, or store it whole first (evict)");
  add_integer(app, "--ctx", options.context, 1, kMostPositions,
              "positions that the text may reach; costs no memory unless --policy full");
}

Policy CacheFlags::parse_policy() const {
  std::string text = policy;
  for (const std::string& rule : protect) text += " protect+=" + rule;
  return Policy::parse(text);
}

bool parse(CLI::App& app, const Arguments& arguments) {
  app.allow_extras();
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // CLI11 wants the last argument first
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return false;
  } catch (const CLI::ParseError& e) {
    const std::string message = e.what();
    fail(message.substr(0, message.find('\n')));
  }
  check_extras(app);
  return true;
}

}  // namespace vase::cli
