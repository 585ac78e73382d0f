#include "run_options.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostTokens = 1 << 24;
constexpr size_t kMostPromptBytes = size_t{64} << 20;

void add_sampling(CLI::App& app, RunOptions& o) {
  SamplingOptions& s = o.session.sampling;
  add_random_seed(app, "--seed", o.seed, "of the text; absent or -1: a random one, printed");
  add_random_seed(app, "--evict-seed", o.evict_seed, "of the evictions; absent or -1: a random one, printed");
  add_call(
      app, "--temp", [&s](const std::string& value) { s.temperature = parse_temperature("--temp", value); },
      "temperature; 0 = always the most probable token (0.6)");
  add_integer(app, "--top-k", s.top_k, 0, kMostTokens, "0 = off (0)");
  add_number(app, "--top-p", s.top_p, 1e-6f, 1, "1 = off (0.95)");
  add_number(app, "--min-p", s.min_p, 0, 1, "0 = off (0)");
  add_number(app, "--repeat-penalty", s.repetition_penalty, 0.01f, 100,
             "over the newest 64 tokens; 1 = off (1)");
  add_integer(app, "--max-tokens", o.session.max_tokens, 1, kMostTokens, "most tokens to generate (4096)");
  add_repeatable(app, "--stop", o.session.stops, "end at this text, which is not shown; repeatable");
  add_stop_loops(app, o.session.stop_loops);
  app.add_flag("--ignore-eos", o.session.ignore_eos, "do not end where the model ends");
}

void add_engine(CLI::App& app, RunOptions& o) {
  add_integer(app, "--threads", o.engine.threads, 1, 256, "one per physical core when absent");
  add_choice<AttentionPath>(app, "--path", o.engine.path,
                            {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}},
                            "implementation of attention: fused or reference (fused)");
  app.add_flag("--poison-free-rows", o.engine.poison_free_rows,
               "fill unused slots with NaN, to prove that none is read");
  add_path(app, "--log-evictions", o.eviction_log,
           "write the kept positions of every eviction to this file, as JSON lines");
  add_path(app, "--dump-logits", o.logits_dump,
           "write the logits of every sampled position to this file, as raw f32");
}

// source: for the message.
std::string read_text(std::istream& in, const std::string& source) {
  std::string text, block(1 << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block, 0, static_cast<size_t>(in.gcount()));
    if (text.size() > kMostPromptBytes) {
      throw Error(ErrorCode::kUsage, "the prompt on " + source + " is longer than " +
                                         std::to_string(kMostPromptBytes >> 20) + " MiB; give a shorter one");
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// A device may never end; a pipe does when its writer does.
std::string read_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    throw Error(ErrorCode::kUsage, "--file " + path + " is a directory; give a text file");
  }
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_fifo(status)) {
    throw Error(ErrorCode::kUsage, "--file " + path + " is neither a file nor a pipe; give a text file");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Error(ErrorCode::kNotFound,
                "cannot read --file " + path + (errno ? std::string(": ") + std::strerror(errno) : ""));
  }
  return read_text(in, "--file " + path);
}

// The files that the command line names must differ, where one of the two is written.
void refuse_same_files(const RunOptions& o) {
  std::vector<std::pair<std::string, std::string>> taken = {{"--model", o.model}, {"standard output", "/dev/stdout"}};
  if (!o.file.empty()) taken.emplace_back("--file", o.file);
  if (!o.prompt && o.file.empty()) taken.emplace_back("standard input", "/dev/stdin");
  for (const auto& [flag, path] :
       {std::pair("--log-evictions", o.eviction_log), std::pair("--dump-logits", o.logits_dump)}) {
    refuse_overwriting(flag, path, taken);
    if (!path.empty()) taken.emplace_back(flag, path);
  }
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
  app.add_option("prompt", o.prompt,
                 "the prompt, after -- when it begins with a dash; without it and --file, standard input is read")
      ->type_name("");
  add_path(app, "--model", o.model, "GGUF file");
  app.get_option("--model")->required();
  add_path(app, "--file", o.file, "read the prompt from this file");
  add_text(app, "--system", o.system, "system message");
  app.add_flag("--raw", o.raw, "give the prompt to the model as it is, without chat template");
  app.add_flag("--json", o.json, "print one JSON object at the end instead of streaming the text");
  o.cache.add_memory(app);
  o.cache.add_policy(app);
  o.cache.add_timing(app);
  o.preset.add(app);
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
  check_utf8("--system", o.system);
  check_stops(o.session.stops);
  refuse_same_files(o);
  o.preset.read(app, o.cache);
  o.policy = o.cache.parse_policy();
  o.cache.settle_types(o.cache.options.budget_mib > 0, o.policy.evicts());
  if (!o.policy.evicts()) o.cache.refuse_idle(app, o.policy.reads());
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
    text = read_file(options.file);
  } else if (isatty(STDIN_FILENO)) {
    throw Error(ErrorCode::kUsage, "no prompt; give it as an argument, with --file, or on standard input");
  } else {
    text = read_text(std::cin, "standard input");
  }
  if (text.empty()) throw Error(ErrorCode::kUsage, "the prompt is empty; give at least one character");
  check_utf8(options.file.empty() ? "the prompt" : "the prompt in --file " + options.file, text);
  return text;
}

}  // namespace vase::cli
