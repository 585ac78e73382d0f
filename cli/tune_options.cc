#include "tune_options.h"

#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

// What is worth a try without being named: the default, the two policies of the paper, each also with survivors that
// carry the weight of what they stand for, and three others that have been good somewhere.
constexpr const char* kCandidates[] = {
    "vase",  "vase-attnv", "vase-dkv", "vase-attnv-weighted", "vase-dkv-weighted", "expected-attention",
    "caote", "snapkv"};

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

void add_search(CLI::App& app, TuneOptions& o) {
  add_call(
      app, "--target-kl",
      [&o](const std::string& text) { o.target = parse_number("--target-kl", text, 1e-6, 100); },
      "mean KL from the full cache that is near enough, in nats (0.05)");
  add_integer(app, "--step", o.step, 1, 1 << 20,
              "look at multiples of this alone (16; the buffer with --trigger parity)");
}

void add_comparison(CLI::App& app, TuneOptions& o) {
  add_call(
      app, "--kv-budget-mb",
      [&o](const std::string& text) { o.budget_mib = parse_number("--kv-budget-mb", text, 1e-3, 1e9); },
      "compare what so many MiB buy, over types of rows and policies, in place of a search");
  app.remove_option(app.get_option("--kv-type"));  // the other commands take one
  add_repeatable(
      app, "--kv-type", o.kv_types,
      "rows of keys and values: f16, q8_0, q4_0, ... for both, or K,V; repeatable with --kv-budget-mb (f16; "
      "with --kv-budget-mb f16, q8_0, q8_0,q4_0 and q4_0)");
  add_path(app, "--preset-out", o.preset_out,
           "with --kv-budget-mb: write the best to this file, for --preset");
  app.add_flag("--overwrite", o.overwrite, "let --preset-out replace a file that is there");
}

void add_flags(CLI::App& app, TuneOptions& o) {
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  o.texts.add(app);
  add_repeatable(app, "--policy", o.policies,
                 "what to keep; repeatable (vase; with --kv-budget-mb several good candidates, and `vase @q4_0` is "
                 "tried with rows of that type alone)");
  o.cache.add_slots(app);
  o.cache.add_timing(app);
  add_comparison(app, o);
  add_search(app, o);
  add_integer(app, "--seeds", o.seeds, 1, 1000, "eviction seeds for every policy that draws (1)");
  add_integer(app, "--evict-seed", o.first_seed, 0, 1 << 30, "the first of them (0)");
  add_integer(app, "--chunk", o.kl.chunk, 1, 4096,
              "tokens fed at a time (64); changes the time and nothing else");
  add_integer(app, "--threads", o.kl.threads, 1, 256, "one per physical core when absent");
  app.add_flag("--json", o.json, "print JSON");
}

void check_mode(const CLI::App& app, const TuneOptions& o) {
  const bool compares = o.budget_mib > 0;
  for (const char* flag : {"--target-kl", "--step"}) {
    if (compares && app.count(flag) > 0)
      fail(std::string(flag) +
           " is for the search for a budget, and --kv-budget-mb gives it; leave one of the two out");
  }
  for (const char* flag : {"--preset-out", "--overwrite"}) {
    if (!compares && app.count(flag) > 0)
      fail(std::string(flag) + " needs --kv-budget-mb: a preset is the best cache in given megabytes");
  }
  for (const std::string& policy : o.policies) {
    if (!compares && split_types(policy).second)
      fail("--policy " + vase::quoted(policy) + ": types behind @ need --kv-budget-mb; give --kv-type");
  }
  if (o.overwrite && o.preset_out.empty()) fail("--overwrite belongs to --preset-out, which is not given");
  if (!compares && o.kv_types.size() > 1)
    fail("several --kv-type are compared with --kv-budget-mb; give it, or one type");
}

// Every type by itself, so that a wrong one is named before anything is loaded.
void check_types(TuneOptions& o) {
  std::vector<std::string> all = o.kv_types;
  for (const std::string& policy : o.policies) {
    if (const auto own = split_types(policy).second) all.push_back(*own);
  }
  for (const std::string& text : all) {
    parse_kv_type(text, o.cache.options);
    if (o.cache.options.auto_types)
      fail(
          "--kv-type auto is a rule, and `vase tune` measures: give types, or leave the flag out to try all");
  }
}

void refuse_same_files(const TuneOptions& o) {
  o.texts.refuse_twice();
  refuse_overwriting("--preset-out", o.preset_out, o.texts.inputs(o.model));
}

}  // namespace

std::pair<std::string, std::optional<std::string>> split_types(const std::string& policy) {
  const size_t at = policy.rfind(" @");
  if (at == std::string::npos) return {policy, std::nullopt};
  return {policy.substr(0, at), policy.substr(at + 2)};
}

std::optional<TuneOptions> TuneOptions::parse(const Arguments& arguments) {
  TuneOptions o;
  CLI::App app(
      "On texts of yours: the best cache in given megabytes (--kv-budget-mb), or the smallest budget at "
      "which a policy "
      "stays near its full cache.",
      "tune");
  add_flags(app, o);
  if (!cli::parse(app, arguments)) return std::nullopt;
  check_mode(app, o);
  check_types(o);
  if (o.policies.empty() && o.budget_mib > 0)
    o.policies.assign(std::begin(kCandidates), std::end(kCandidates));
  if (o.policies.empty()) o.policies = {o.cache.policy};
  refuse_same_files(o);
  return o;
}

}  // namespace vase::cli
