// `vase bench`: generation speed at a depth, ours and libllama's in turn.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench_report.h"
#include "commands.h"
#include "end_to_end/decode_bench.h"
#include "flags.h"
#include "interrupt.h"
#include "json_output.h"
#include "output.h"
#include "synthetic/synthetic_model.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

struct BenchOptions {
  bench::DecodeBenchOptions bench;
  CacheFlags cache;
  std::vector<std::string> policies;
  std::string model, shape, weights = "q4_0", cache_dir, peer = "none";
  bool json = false;
};

// Where scripts/setup keeps what it makes, too.
std::string default_cache_dir() {
  namespace fs = std::filesystem;
  if (const char* cache = std::getenv("VASE_CACHE"); cache && *cache) return (fs::path(cache) / "synthetic").string();
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) {
    return (fs::path(cache) / "vase" / "synthetic").string();
  }
  const char* home = std::getenv("HOME");
  if (!home || !*home) {
    throw Error(ErrorCode::kUsage, "there is no HOME to keep random-weight models in; give a folder with --cache-dir");
  }
  return (fs::path(home) / ".cache" / "vase" / "synthetic").string();
}

void add_flags(CLI::App& app, BenchOptions& o) {
  add_path(app, "--model", o.model, "GGUF file");
  add_text(app, "--shape", o.shape, "or random weights: qwen3-0.6b, qwen3-4b or qwen3-14b");
  add_text(app, "--weights", o.weights, "of --shape: f16, q8_0, q4_0 or q4_k (q4_0)");
  add_path(app, "--cache-dir", o.cache_dir, "where random-weight models are kept");
  add_integer(app, "--depth", o.bench.depth, 0, 1 << 20, "tokens seen before the first timed one (0)");
  add_integer(app, "--batch", o.bench.engine.sequences, 1, 256, "sequences at the same time (1)");
  add_integer(app, "--tokens", o.bench.tokens, 1, 1 << 16, "timed tokens per repeat and sequence (64)");
  add_integer(app, "--repeats", o.bench.repeats, 1, 1000, "timed repeats, all candidates in turn (5)");
  add_integer(app, "--threads", o.bench.engine.threads, 1, 256, "one per physical core when absent");
  add_choice<std::string>(
      app, "--peer", o.peer, {{"none", "none"}, {"llama", "llama"}},
      "also time libllama on the same file, with and without flash attention: none or llama (none)");
  add_choice<AttentionPath>(app, "--path", o.bench.engine.path,
                            {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}},
                            "implementation of attention: fused or reference (fused)");
  app.add_flag("--json", o.json, "print one JSON object instead of a table");
  o.cache.add_memory(app);
  app.add_option("--policy", o.policies, "what to keep; repeatable, one row each (vase-attnv)")
      ->type_name("")
      ->allow_extra_args(false);
}

std::string model_path(const BenchOptions& o, const CLI::App& app) {
  if (o.model.empty() == o.shape.empty()) {
    throw Error(ErrorCode::kUsage, "give either --model FILE or --shape NAME");
  }
  if (!o.model.empty()) {
    for (const char* flag : {"--weights", "--cache-dir"}) {
      if (app.count(flag) > 0) {
        throw Error(ErrorCode::kUsage, std::string(flag) + " belongs to --shape and does nothing with --model; leave it out");
      }
    }
    return o.model;
  }
  return synthetic::synthetic_model(o.shape, o.weights,
                                    o.cache_dir.empty() ? default_cache_dir() : o.cache_dir);
}

// Canonical texts, --protect included.
std::vector<std::string> parse_policies(const BenchOptions& o, const CLI::App& app) {
  std::vector<std::string> texts;
  bool evicts = false, reads = false;
  for (const std::string& text : o.policies) {
    CacheFlags flags = o.cache;
    flags.policy = text;
    const Policy policy = flags.parse_policy();
    evicts |= policy.evicts();
    reads |= policy.reads();
    texts.push_back(policy.text());
  }
  if (!evicts) o.cache.refuse_idle(app, reads);
  return texts;
}

// Begins at 0, when loading and filling are over: from there an interrupt has something to report.
void show_progress(int done, int total) {
  if (done == 0) defer_interrupts();
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\rtimed %d of %d%s", done, total, done == total ? "\n" : "");
}

}  // namespace

int bench_command(const Arguments& arguments) {
  BenchOptions o;
  CLI::App app("Times generation at a depth. Caches are filled at once, not by generating.", "bench");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;

  if (o.policies.empty()) o.policies = {o.cache.policy};
  o.bench.policies = parse_policies(o, app);
  o.bench.cache = o.cache.options;
  o.bench.peer_llama = o.peer == "llama";
  o.bench.model_path = model_path(o, app);
  o.bench.stop = interrupted;
  const std::vector<bench::DecodeBenchRow> rows = bench::run_decode_bench(o.bench, show_progress);
  const bool incomplete = interrupted();
  o.json ? print_json(bench_json(o.bench, rows, incomplete), 2)
         : write_output(bench_table(o.bench, rows, incomplete));
  return incomplete ? kExitInterrupted : kExitOk;
}

}  // namespace vase::cli
