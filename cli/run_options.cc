#include "run_options.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostTokens = 1 << 24;

void add_sampling(CLI::App& app, RunOptions& o) {
  SamplingOptions& s = o.session.sampling;
  add_seed(app, "--seed", o.seed, "of the text; absent or -1: a random one, printed");
  add_seed(app, "--evict-seed", o.evict_seed, "of the evictions; absent or -1: a random one, printed");
  add_number(app, "--temp", s.temperature, 0, 100, "temperature; 0 = always the most probable token (0.6)");
  add_integer(app, "--top-k", s.top_k, 0, kMostTokens, "0 = off (0)");
  add_number(app, "--top-p", s.top_p, 1e-6f, 1, "1 = off (0.95)");
  add_number(app, "--min-p", s.min_p, 0, 1, "0 = off (0)");
  add_number(app, "--repeat-penalty", s.repetition_penalty, 0.01f, 100,
             "over the newest 64 tokens; 1 = off (1)");
  add_integer(app, "--max-tokens", o.session.max_tokens, 1, kMostTokens, "most tokens to generate (4096)");
  app.add_option("--stop", o.session.stops, "end at this text, which is not shown; repeatable")
      ->type_name("")
      ->allow_extra_args(false);
  app.add_flag("--ignore-eos", o.session.ignore_eos, "do not end where the model ends");
}

void add_engine(CLI::App& app, RunOptions& o) {
  add_integer(app, "--threads", o.engine.threads, 1, 256, "one per physical core when absent");
  add_choice<AttentionPath>(app, "--path", o.engine.path,
                            {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}},
                            "implementation of attention: fused or reference (fused)");
  app.add_flag("--poison-free-rows", o.engine.poison_free_rows,
               "fill unused slots with NaN, to prove that none is read");
  add_text(app, "--log-evictions", o.eviction_log,
           "write the kept positions of every eviction to this file, as JSON lines");
  add_text(app, "--dump-logits", o.logits_dump,
           "write the logits of every sampled position to this file, as raw f32");
}

std::string read_all(std::istream& in) {
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

uint64_t random_seed() {
  std::random_device device;
  return uint64_t(device()) << 32 | device();
}

}  // namespace

std::optional<RunOptions> RunOptions::parse(const Arguments& arguments) {
  RunOptions o;
  CLI::App app("Answers one prompt. The text goes to standard output, everything else to standard error.",
               "run");
  app.add_option("prompt", o.prompt, "the prompt; without it and --file, standard input is read")
      ->type_name("");
  add_text(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  add_text(app, "--file", o.file, "read the prompt from this file");
  add_text(app, "--system", o.system, "system message");
  app.add_flag("--raw", o.raw, "give the prompt to the model as it is, without chat template");
  app.add_flag("--json", o.json, "print one JSON object at the end instead of streaming the text");
  o.cache.add_memory(app);
  o.cache.add_policy(app);
  o.cache.add_timing(app);
  app.footer(
      "The authors' own code, for comparison:\n"
      "  --trigger parity --prefill dense --policy 'vase-attnv score=attention:divisor=fixed order=score'");
  add_sampling(app, o);
  add_engine(app, o);
  if (!cli::parse(app, arguments)) return std::nullopt;
  if (o.prompt && !o.file.empty()) {
    throw Error(ErrorCode::kUsage, "the prompt comes from the argument or from --file, not from both");
  }
  if (o.raw && !o.system.empty()) {
    throw Error(ErrorCode::kUsage, "--system needs the chat template, which --raw leaves out");
  }
  o.policy = o.cache.parse_policy();
  if (!o.policy.evicts()) o.cache.refuse_idle(app);
  o.engine.log_evictions = !o.eviction_log.empty();
  return o;
}

void RunOptions::resolve_seeds() {
  session.sampling.seed = seed ? *seed : random_seed();
  session.evict_seed = evict_seed ? *evict_seed : random_seed();
}

std::string read_prompt(const RunOptions& options) {
  std::string text;
  if (options.prompt) {
    text = *options.prompt;
  } else if (!options.file.empty()) {
    if (std::filesystem::is_directory(options.file)) {
      throw Error(ErrorCode::kUsage, "--file " + options.file + " is a directory; give a text file");
    }
    std::ifstream in(options.file, std::ios::binary);
    if (!in) throw Error(ErrorCode::kNotFound, "cannot read --file " + options.file);
    text = read_all(in);
  } else if (isatty(STDIN_FILENO)) {
    throw Error(ErrorCode::kUsage, "no prompt; give it as an argument, with --file, or on standard input");
  } else {
    text = read_all(std::cin);
  }
  if (text.empty()) throw Error(ErrorCode::kUsage, "the prompt is empty; give at least one character");
  return text;
}

}  // namespace vase::cli
