#include "bench_options.h"

#include <cstdlib>
#include <filesystem>

#include "flags.h"
#include "output.h"
#include "policies/words.h"
#include "synthetic/synthetic_model.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostPositions = 1 << 20, kMostTokens = 1 << 16, kMostBatch = 256;

using Layouts = std::vector<model::WeightLayout>;

// As they stand on the command line; empty lists were not given.
struct BenchFlags {
  BenchCommand command;
  CacheFlags cache;
  std::vector<std::string> policies, kv_types;
  Layouts layouts = {model::WeightLayout::kOwn};
  std::vector<int> prompts, tokens, depths, batches, threads, budgets, chunks;
  std::string peer = "none";
  int memory_mib = 0;
  bool json = false, sweep = false;
};

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

// One number, or several with commas between.
void add_list(CLI::App& app, const std::string& flag, std::vector<int>& values, int low, int high,
              const std::string& help) {
  add_call(
      app, flag,
      [=, &values](const std::string& text) {
        for (const Word& one : split({text}, ",", false)) {
          values.push_back(parse_integer(flag, std::string(one.text), low, high));
        }
      },
      help);
}

void add_model(CLI::App& app, BenchCommand& o) {
  add_path(app, "--model", o.model, "GGUF file");
  add_text(app, "--shape", o.shape, "or random weights: qwen3-0.6b, qwen3-4b or qwen3-14b");
  add_text(app, "--weights", o.weights, "of --shape: f16, q8_0, q4_0 or q4_k (q4_0)");
  add_path(app, "--cache-dir", o.cache_dir, "where random-weight models are kept");
}

void add_grid(CLI::App& app, BenchFlags& o) {
  add_list(app, "--prompt", o.prompts, 0, kMostTokens,
           "prompt processing: tokens per sequence; a list like all plural flags: 128,512 (512 unless "
           "--tokens is given)");
  add_list(app, "--tokens", o.tokens, 0, kMostTokens,
           "generation: tokens per sequence (128 unless --prompt is given)");
  add_list(app, "--depth", o.depths, 0, kMostPositions, "tokens seen before the first timed one (0)");
  add_list(app, "--batch", o.batches, 1, kMostBatch, "sequences at the same time (1)");
  add_list(app, "--threads", o.threads, 1, 256, "one per physical core when absent");
  add_list(app, "--chunk", o.chunks, 1, 4096, "prompt tokens per step, all sequences together (256)");
  o.cache.add_memory(app);
  // Those of the other commands take one value.
  for (const char* flag : {"--kv-budget", "--kv-type"}) app.remove_option(app.get_option(flag));
  add_list(app, "--kv-budget", o.budgets, 1, 1 << 24,
           "tokens kept per layer and KV head after an eviction (1024)");
  app.get_option("--kv-budget-mb")->excludes("--kv-budget");
  add_repeatable(app, "--kv-type", o.kv_types, "f32, f16, bf16, q8_0 or q4_0 for both, or K,V; repeatable (f16)");
  add_repeatable(app, "--policy", o.policies, "what to keep; repeatable (vase)");
  o.command.preset.add(app);
  add_choice<Layouts>(app, "--products", o.layouts,
                      {{"own", {model::WeightLayout::kOwn}},
                       {"ggml", {model::WeightLayout::kGgml}},
                       {"both", {model::WeightLayout::kOwn, model::WeightLayout::kGgml}}},
                      "whose quantised matrix products run: own, ggml, or both in turns (own)");
}

void add_run(CLI::App& app, BenchFlags& o) {
  bench::BenchOptions& b = o.command.bench;
  add_integer(app, "--repeats", b.repeats, 1, 1000, "of every piece, all candidates in turn (5)");
  add_choice<AttentionPath>(app, "--path", b.engine.path,
                            {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}},
                            "implementation of attention: fused or reference (fused)");
  add_choice<std::string>(
      app, "--peer", o.peer,
      {{"none", "none"}, {"llama", "llama"}, {"llama-flash", "llama-flash"}, {"llama-plain", "llama-plain"}},
      "also time libllama on the same file: llama (with and without flash attention), llama-flash, "
      "llama-plain or none (none)");
  add_integer(app, "--peer-tokens", b.peer_tokens, 1, kMostTokens,
              "steps of libllama per repeat, where it is slow; as ours when absent");
  app.add_flag("--predict", b.predict, "show what a cost model expects beside what was measured");
  app.add_flag("--sweep-batch", o.sweep,
               "instead of --batch: for each policy and budget the largest that fits --memory-mb");
  add_integer(app, "--memory-mb", o.memory_mib, 1, 1 << 24,
              "MiB for weights, caches and buffers, with --sweep-batch");
  add_choice<BenchFormat>(app, "--format", o.command.format,
                          {{"markdown", BenchFormat::kMarkdown},
                           {"csv", BenchFormat::kCsv},
                           {"json", BenchFormat::kJson},
                           {"jsonl", BenchFormat::kJsonl}},
                          "markdown, csv, json or jsonl (markdown)");
  app.add_flag("--json", o.json, "the same as --format json");
  add_path(app, "--out", o.command.out, "write the report to this file, and a table to standard output");
}

// Random weights are made for a shape; flags about them do nothing for a file.
void check_model(const BenchCommand& o, const CLI::App& app) {
  if (o.model.empty() == o.shape.empty()) fail("give either --model FILE or --shape NAME");
  if (o.model.empty()) return;
  for (const char* flag : {"--weights", "--cache-dir"}) {
    if (app.count(flag) > 0)
      fail(std::string(flag) + " belongs to --shape and does nothing with --model; leave it out");
  }
}

// Flags that need one another, or do nothing together.
void check_together(const BenchFlags& o, const CLI::App& app) {
  const auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (o.json && given("--format")) fail("--json is --format json; give one of the two");
  if (o.sweep != given("--memory-mb")) fail("--sweep-batch and --memory-mb go together; give both or none");
  if (o.sweep && given("--batch")) fail("--sweep-batch finds the batch; leave --batch out");
  if (o.sweep && o.peer != "none") fail("libllama does not go with --sweep-batch; leave --peer out");
  if (o.peer == "none" && given("--peer-tokens"))
    fail("--peer-tokens does nothing without --peer; leave it out");
  if (o.command.bench.predict && o.layouts.size() > 1)
    fail("--predict is made of one kind of matrix products; give --products own or ggml");
}

// --protect is a part of every policy's text.
std::vector<bench::NamedPolicy> parse_policies(const BenchFlags& o, const CLI::App& app) {
  std::vector<bench::NamedPolicy> policies;
  bool evicts = false, reads = false;
  for (const std::string& text : o.policies.empty() ? std::vector{o.cache.policy} : o.policies) {
    const Policy policy = o.cache.parse_policy(text);
    evicts |= policy.evicts();
    reads |= policy.reads();
    policies.push_back({text, policy.text()});
  }
  if (!evicts) o.cache.refuse_idle(app, reads);
  return policies;
}

// Without a flag both kinds; with one of the two only that kind. 0 is none.
std::vector<bench::Test> tests_of(const BenchFlags& o) {
  const bool both = o.prompts.empty() && o.tokens.empty();
  std::vector<bench::Test> tests;
  for (const int tokens : both ? std::vector{512} : o.prompts) tests.push_back({true, tokens});
  for (const int tokens : both ? std::vector{128} : o.tokens) tests.push_back({false, tokens});
  std::erase_if(tests, [](const bench::Test& test) { return test.tokens == 0; });
  if (tests.empty()) fail("there is nothing to time; give --prompt or --tokens more than 0");
  return tests;
}

// The cell that a preset stands for, in place of lists.
void set_preset(const BenchFlags& o, bench::Grid& grid) {
  const eval::Preset& preset = o.command.preset.preset();
  const CacheOptions& cache = preset.cache;
  grid.policies = {{preset.name, preset.policy}};
  grid.budgets = {cache.budget};
  grid.kv_types = {{row_types_name(cache.key_type, cache.value_type), cache.key_type, cache.value_type}};
}

bench::Grid grid_of(const BenchFlags& o, const CLI::App& app) {
  bench::Grid grid{
      .tests = tests_of(o), .policies = parse_policies(o, app), .layouts = o.layouts, .cache = o.cache.options};
  const auto take = [](const std::vector<int>& given, std::vector<int>& list) {
    if (!given.empty()) list = given;
  };
  take(o.depths, grid.depths);
  take(o.batches, grid.batches);
  take(o.threads, grid.threads);
  take(o.budgets, grid.budgets);
  take(o.chunks, grid.chunks);
  if (o.command.preset.given()) set_preset(o, grid);
  if (o.kv_types.empty()) return grid;
  grid.kv_types.clear();
  for (const std::string& text : o.kv_types) {
    CacheOptions types;
    parse_kv_type(text, types);
    if (types.auto_types) {
      fail("--kv-type auto depends on how long texts get; give what `vase info --kv-type auto` shows");
    }
    grid.kv_types.push_back({text, types.key_type, types.value_type});
  }
  return grid;
}

// Where scripts/setup keeps what it makes, too.
std::string default_cache_dir() {
  namespace fs = std::filesystem;
  if (const char* cache = std::getenv("VASE_CACHE"); cache && *cache)
    return (fs::path(cache) / "synthetic").string();
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) {
    return (fs::path(cache) / "vase" / "synthetic").string();
  }
  const char* home = std::getenv("HOME");
  if (!home || !*home)
    fail("there is no HOME to keep random-weight models in; give a folder with --cache-dir");
  return (fs::path(home) / ".cache" / "vase" / "synthetic").string();
}

}  // namespace

std::optional<BenchCommand> BenchCommand::parse(const Arguments& arguments) {
  BenchFlags o;
  CLI::App app(
      "Times prompt processing and generation at a depth. Caches are filled at once, not by generating.",
      "bench");
  add_model(app, o.command);
  add_grid(app, o);
  add_run(app, o);
  if (!cli::parse(app, arguments)) return std::nullopt;

  BenchCommand& command = o.command;
  check_model(command, app);
  check_together(o, app);
  command.preset.read(app, o.cache);
  if (command.preset.given() && command.model.empty())
    fail("--preset was made for a model file; give it with --model, in place of --shape");
  refuse_overwriting("--out", command.out, {{"--model", command.model}});
  command.bench.grid = grid_of(o, app);
  command.bench.peer_flash = o.peer == "llama" || o.peer == "llama-flash";
  command.bench.peer_plain = o.peer == "llama" || o.peer == "llama-plain";
  command.bench.sweep_bytes = uint64_t(o.memory_mib) << 20;
  if (o.json) command.format = BenchFormat::kJson;
  return command;
}

std::string BenchCommand::model_path() const {
  if (!model.empty()) return model;
  return synthetic::synthetic_model(shape, weights, cache_dir.empty() ? default_cache_dir() : cache_dir);
}

}  // namespace vase::cli
