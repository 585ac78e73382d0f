#include "eval_run_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "eval/require_read.h"
#include "flags.h"
#include "given_once.h"
#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kMostTokens = 1 << 24;
constexpr int kProblems = 100;  // of a procedural task

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

// As they stand on the command line; empty lists were not given.
struct RunFlags {
  EvalRunOptions o;
  CacheFlags cache;
  std::vector<std::string> tasks, policies;
  std::vector<int> budgets;
  std::vector<double> megabytes;
  std::string ids, key_variable;
  std::optional<std::string> instruction;
  uint64_t task_seed = 0;
  int problems = 0;
  bool greedy = false;
};

void add_tasks(CLI::App& app, RunFlags& f) {
  add_repeatable(app, "--task", f.tasks,
                 "NAME=FILE, or a procedural task such as chain:steps=40; repeatable, also for the files of "
                 "one data set (`vase eval tasks` lists them)");
  app.get_option("--task")->required();
  add_integer(app, "--problems", f.problems, 1, 1 << 24,
              "the first of each task; of a procedural one, how many to make (all; 100)");
  add_path(app, "--ids", f.ids, "take only the problems whose ids stand in this file, one a line");
  add_seed(app, "--task-seed", f.task_seed, "of procedural problems (0)");
  app.add_option("--instruction", f.instruction, "appended to every problem, in place of the task's own")
      ->type_name("");
  add_text(app, "--system", f.o.generation.system, "system message");
  app.add_flag("--raw", f.o.generation.raw, "give the prompt to the model as it is, without chat template");
}

void add_sampling(CLI::App& app, RunFlags& f) {
  SessionOptions& session = f.o.generation.session;
  SamplingOptions& s = session.sampling;
  add_integer(app, "--samples", f.o.plan.samples, 1, 100000, "texts per problem (1)");
  add_call(
      app, "--temperature",
      [&s](const std::string& value) { s.temperature = parse_temperature("--temperature", value); },
      "0 = always the most probable token (0.6)");
  add_integer(app, "--top-k", s.top_k, 0, kMostTokens, "0 = off (0)");
  add_number(app, "--top-p", s.top_p, 1e-6f, 1, "1 = off (0.95)");
  add_number(app, "--min-p", s.min_p, 0, 1, "0 = off (0)");
  app.add_flag("--greedy", f.greedy, "the same as --temperature 0");
  add_integer(app, "--max-tokens", session.max_tokens, 1, kMostTokens,
              "most tokens to generate per text (4096)");
  add_repeatable(app, "--stop", session.stops, "end at this text, which is not shown; repeatable");
  add_stop_loops(app, session.stop_loops);
  add_seed(app, "--seed", f.o.plan.seed, "of the texts; each has its own, derived from it (0)");
  add_integer(app, "--seeds", f.o.plan.seeds, 1, 1000, "eviction seeds: texts once with each where something is drawn (1)");
  add_seed(app, "--evict-seed", f.o.plan.evict_seed, "the first of them (0)");
}

void add_engine(CLI::App& app, RunFlags& f) {
  EngineOptions& engine = f.o.generation.engine;
  engine.sequences = 4;
  add_repeatable(app, "--policy", f.policies,
                 "what to keep; repeatable: a table with `full` compares the others with it (vase)");
  add_budgets(app, f.budgets);
  add_megabytes(app, f.megabytes);
  f.cache.add_slots(app);
  f.cache.add_timing(app);
  f.o.preset.add(app);
  add_integer(app, "--ctx", f.cache.options.context, 1, kMostTokens,
              "most tokens of prompt and text together");
  add_integer(app, "--sequences", engine.sequences, 1, 4096, "texts that are generated at the same time (4)");
  add_integer(app, "--threads", engine.threads, 1, 256, "one per physical core when absent");
  add_choice<AttentionPath>(app, "--path", engine.path,
                            {{"fused", AttentionPath::kFused}, {"reference", AttentionPath::kReference}},
                            "implementation of attention: fused or reference (fused)");
  add_choice<Products>(app, "--products", f.o.generation.products,
                       {{"own", Products::kOwn}, {"ggml", Products::kGgml}},
                       "whose products of quantised matrices run: own, or those of llama.cpp, which are slower (own)");
}

// "2/4": the second of four, counted from 1 by people.
void parse_shard(const std::string& text, eval::RunPlan& plan) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos)
    fail("--shard is " + vase::quoted(text) + "; allowed: i/n, such as 1/4 for the first of four");
  plan.shards = parse_integer("the n of --shard i/n", text.substr(slash + 1), 1, 100000);
  plan.shard = parse_integer("the i of --shard i/n", text.substr(0, slash), 1, plan.shards) - 1;
}

void add_results(CLI::App& app, RunFlags& f) {
  add_path(app, "--out", f.o.out, "folder of the results; a run that was ended goes on where it stopped");
  app.get_option("--out")->required();
  add_call(
      app, "--shard", [&f](const std::string& text) { parse_shard(text, f.o.plan); },
      "i/n: every n-th problem, from the i-th on; `vase eval merge` joins them");
  add_choice<bool>(app, "--grader", f.o.grader.math_verify, {{"own", false}, {"math-verify", true}},
                   "who compares formulas: own, or the Python package math-verify (own)");
  add_path(app, "--python", f.o.grader.package.python, "an interpreter that has math-verify (python3)");
  app.add_flag("--run-code", f.o.grader.run_code,
               "run the programs that the model writes, in a sandbox, for tasks that need it");
  app.add_flag("--json", f.o.json, "print the summary as JSON instead of a table");
}

void add_server(CLI::App& app, RunFlags& f) {
  add_text(app, "--server", f.o.server.url,
           "in place of --model: address of a server with OpenAI's protocol, http://HOST:PORT");
  add_text(app, "--server-model", f.o.server.model, "the name of the model there");
  add_text(app, "--api-key-env", f.key_variable,
           "environment variable with the key that the server asks for");
  add_integer(app, "--server-timeout", f.o.server.timeout_s, 1, 1 << 20,
              "longest silence of the server, which says nothing until a whole text is there, in seconds (3600)");
  app.get_option("--server")->excludes("--model");
}

// Flags that are about an engine of this program, beside those of its cache.
constexpr const char* kEngineFlags[] = {"--ctx",        "--threads", "--path",       "--raw",     "--seeds",
                                        "--evict-seed", "--preset",  "--stop-loops", "--products"};

void refuse_with_server(const CLI::App& app, const char* flag) {
  if (app.count(flag) > 0) fail(std::string(flag) + " does nothing with --server; leave it out");
}

void check_generator(const CLI::App& app, RunFlags& f) {
  eval::ChatServerOptions& server = f.o.server;
  if (server.url.empty()) {
    if (f.o.model.empty()) fail("nothing to generate with; give --model FILE, or --server URL");
    for (const char* flag : {"--server-model", "--api-key-env", "--server-timeout"}) {
      if (app.count(flag) > 0) fail(std::string(flag) + " goes with --server, which is not given");
    }
    return;
  }
  if (server.model.empty()) fail("--server needs --server-model NAME, the name of the model there");
  for (const CacheFlag& flag : kCacheFlags) refuse_with_server(app, flag.name);
  for (const char* flag : kEngineFlags) refuse_with_server(app, flag);
  if (f.key_variable.empty()) return;
  const char* key = std::getenv(f.key_variable.c_str());
  if (!key || !*key)
    fail("the environment variable " + vase::quoted(f.key_variable) + " of --api-key-env is not set");
  server.key = key;
}

void check_sampling(const CLI::App& app, const RunFlags& f) {
  if (f.greedy && app.count("--temperature") > 0) fail("--greedy is --temperature 0; give one of the two");
  const bool greedy = f.o.generation.session.sampling.temperature == 0;
  if (greedy && f.o.plan.samples > 1) {
    fail("with temperature 0 all --samples of a problem are the same text; leave them out, or vary --seeds");
  }
}

// What `policy` is called in results: rules that were added are a part of it.
std::string name_of(const std::string& text, const Policy& policy, const CacheFlags& cache) {
  if (!policy.evicts() && !policy.reads()) return "full";
  return cache.with_rules(text);
}

// Their budgets are bought when the prompts are known (eval::buy_budgets).
void set_bought_cells(RunFlags& f) {
  GivenOnce once;
  for (const std::string& text : f.policies) {
    const Policy policy = f.cache.parse_policy(text);
    if (policy.reads()) {
      fail("--kv-budget-mb buys tokens that are kept, and " + vase::quoted(text) +
           " keeps every one; give it --kv-budget");
    }
    for (const double mib : policy.evicts() ? f.megabytes : std::vector<double>{0}) {
      once.add(text, policy, mib > 0 ? megabytes_flag(mib) : "");
      eval::Cell cell{name_of(text, policy, f.cache), policy};
      if (mib > 0) cell.bought = {.mib = mib};
      f.o.plan.cells.push_back(cell);
    }
  }
}

void set_cells(RunFlags& f) {
  std::vector<eval::Cell>& cells = f.o.plan.cells;
  if (!f.o.server.url.empty()) {
    cells.push_back({"server:" + f.o.server.model, Policy(), 0});
    return;
  }
  if (f.policies.empty()) f.policies = {f.cache.policy};
  if (f.o.preset.given()) {
    const eval::Preset& preset = f.o.preset.preset();
    cells.push_back({preset.name, f.cache.parse_policy(), preset.cache.budget});
    return;
  }
  if (!f.megabytes.empty()) return set_bought_cells(f);
  if (f.budgets.empty()) f.budgets = {128};
  GivenOnce once;
  for (const std::string& text : f.policies) {
    const Policy policy = f.cache.parse_policy(text);
    const bool keeps_all = !policy.evicts() && !policy.reads();
    for (const int budget : keeps_all ? std::vector<int>{0} : f.budgets) {
      if (!keeps_all) policy.validate(budget, f.cache.options.buffer);
      once.add(text, policy, budget > 0 ? budget_flag(budget) : "");
      cells.push_back({name_of(text, policy, f.cache), policy, budget});
    }
  }
}

std::vector<std::string> read_ids(const std::string& path) {
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kNotFound, "cannot read --ids " + path + "; give a file with an id in each line");
  }
  std::vector<std::string> ids;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) ids.push_back(line);
  }
  eval::require_read(in, path);
  if (ids.empty()) fail("--ids " + path + " names no problems");
  return ids;
}

void set_tasks(RunFlags& f) {
  std::vector<eval::Source>& sources = f.o.plan.sources;
  const int most = f.ids.empty() ? f.problems : 0;  // the ids may stand anywhere
  for (const std::string& text : f.tasks) {
    eval::add_source(sources,
                     eval::open_source(text, f.problems > 0 ? f.problems : kProblems, f.task_seed, most));
  }
  for (eval::Source& source : sources) {
    eval::Task& task = source.task;
    if (f.instruction) task.instruction = *f.instruction;
    if (task.kind == eval::AnswerKind::kCode && !f.o.grader.run_code) {
      fail("the task " + task.name + " is graded by running what the model writes; allow it with --run-code");
    }
  }
  eval::select_problems(sources, f.ids.empty() ? std::vector<std::string>() : read_ids(f.ids), f.problems);
}

}  // namespace

std::optional<EvalRunOptions> EvalRunOptions::parse(const Arguments& arguments) {
  RunFlags f;
  f.o.arguments = arguments;
  CLI::App app("Accuracy of policies at budgets, on problems with answers.", "eval run");
  add_path(app, "--model", f.o.model, "GGUF file");
  add_tasks(app, f);
  add_sampling(app, f);
  add_engine(app, f);
  add_server(app, f);
  add_results(app, f);
  if (!cli::parse(app, arguments)) return std::nullopt;
  if (f.greedy) f.o.generation.session.sampling.temperature = 0;
  check_generator(app, f);
  check_sampling(app, f);
  if (f.o.generation.raw && !f.o.generation.system.empty())
    fail("--system needs the chat template, which --raw leaves out");
  check_utf8("--system", f.o.generation.system);
  check_utf8("--instruction", f.instruction.value_or(""));
  check_stops(f.o.generation.session.stops);
  f.o.preset.read(app, f.cache);
  f.cache.settle_types(!f.megabytes.empty());
  f.o.generation.cache = f.cache.options;
  set_cells(f);
  set_tasks(f);
  return f.o;
}

}  // namespace vase::cli
