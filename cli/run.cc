// `vase run`: one prompt in, text out.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "commands.h"
#include "eval/run/prompt.h"
#include "interrupt.h"
#include "json_output.h"
#include "live_line.h"
#include "output.h"
#include "run_options.h"
#include "vase/engine.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kTightBudget = 128;  // below it answers of small models degrade visibly

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void warn(const std::string& message) { std::fprintf(stderr, "vase: warning: %s\n", message.c_str()); }

void print_start(const RunOptions& options, const Engine& engine) {
  const bool cached = options.cache.options.positions == Positions::kCache;
  const MemoryPlan& plan = engine.memory();
  const std::string rows =
      options.cache.options.auto_types ? "rows of " + row_types_name(plan.key_type, plan.value_type) + " chosen: " : "";
  std::fprintf(stderr, "KV memory: %s%s;%s seed %llu, evict-seed %llu\n", rows.c_str(), plan.formula().c_str(),
               cached ? " positions of the cache;" : "",
               static_cast<unsigned long long>(options.session.sampling.seed),
               static_cast<unsigned long long>(options.session.evict_seed));
}

void print_warnings(const RunOptions& options, const Model& model, const Engine& engine, size_t prompt) {
  const MemoryPlan& plan = engine.memory();
  const Policy& policy = engine.policy();
  if (policy.evicts()) {
    const int keep = plan.last_budget - plan.buffer;
    const int room = policy.protects_prompt() ? keep - 1 : keep;  // one slot always stays free to choose
    if (plan.budget < kTightBudget) {
      warn("a budget of " + std::to_string(plan.budget) + " tokens is tight; " +
           std::to_string(kTightBudget) + " or more give better answers");
    }
    if (prompt > static_cast<size_t>(room)) {
      warn("the prompt has " + std::to_string(prompt) + " tokens, the budget beside the buffer holds " +
           std::to_string(room) +
           ": parts of the prompt will be dropped when the cache is full; use a larger --kv-budget" +
           (policy.protects_prompt() ? "" : ", with --protect prompt to keep all of it"));
    }
  }
  const int64_t limit = options.cache.options.context;
  const int64_t last = static_cast<int64_t>(prompt) + options.session.max_tokens;
  const int64_t reach = limit > 0 ? std::min(last, limit) : last;
  if (const int trained = model.shape().trained_context; reach > trained) {
    warn("the text may reach position " + std::to_string(reach) + ", the model was trained on " +
         std::to_string(trained));
  }
}

// What went wrong on the way without ending it.
void print_losses(const Engine& engine) {
  if (const uint64_t times = engine.protection_truncated()) {
    warn("at " + std::to_string(times) +
         " evictions not all protected tokens fitted into the budget; use a larger --kv-budget or protect "
         "less");
  }
  if (const uint64_t scores = engine.nonfinite_scores()) {
    warn(std::to_string(scores) +
         " scores of the policy were NaN or infinite; those tokens were not chosen by merit");
  }
}

// The files that a run writes; made before the model is loaded, so that a wrong path fails at once.
struct RunFiles {
  std::optional<OutputFile> evictions, logits;

  explicit RunFiles(const RunOptions& options) {
    if (!options.eviction_log.empty()) evictions.emplace(options.eviction_log);
    if (!options.logits_dump.empty()) logits.emplace(options.logits_dump);
  }
};

// One generation: the step loop, the text on its way out, the clock.
class Generation {
 public:
  Generation(Engine& engine, const RunOptions& options, std::vector<int32_t> prompt)
      : engine_(engine), options_(options), session_(engine_.submit(std::move(prompt), options.session)) {}

  // logits: where every sampled row goes; may be empty.
  void run(std::optional<OutputFile>& logits) {
    if (logits) {
      engine_.set_on_logits([&](Session&, int64_t, std::span<const float> row) {
        logits->write({reinterpret_cast<const char*>(row.data()), row.size_bytes()});
      });
    }
    start_ = Clock::now();
    int left = 1;
    while (left > 0) {
      if (interrupted()) session_->cancel();
      left = engine_.step([this](Session&, std::string_view text) { take(text); });
      if (times_.prefill_s == 0 && session_->generated_tokens() > 0) times_.prefill_s = seconds_since(start_);
      if (live_.due()) live_.show(status());
    }
    if (session_->generated_tokens() == 0) times_.prefill_s = seconds_since(start_);
    else times_.decode_s = seconds_since(start_) - times_.prefill_s;
    live_.close();
    if (logits) logits->commit();
  }

  // Without an end of its own the terminal's next line would begin behind the text. Anything else gets the text as it
  // is, and the summary begins a line.
  void end_text() const {
    if (text_.empty() || text_.back() == '\n') return;
    if (isatty(STDOUT_FILENO)) write_output("\n");
    else std::fputc('\n', stderr);
  }

  void print_summary() const {
    const Counters c = session_->counters();
    if (session_->generated_tokens() == 0 && session_->finish() == Finish::kCancelled) {
      std::fprintf(stderr, "%lld of %d prompt tokens read in %.2f s, finish: cancelled\n",
                   static_cast<long long>(c.tokens_seen), session_->prompt_tokens(), times_.prefill_s);
      return;
    }
    std::fprintf(
        stderr,
        "%d prompt + %d generated tokens, %.1f tokens/s after %.2f s of prompt, %d of %d slots used, "
        "%lld evicted, kept fraction %.2f, finish: %s\n",
        session_->prompt_tokens(), session_->generated_tokens(), rate(), times_.prefill_s, c.slots_used,
        engine_.memory().capacity, static_cast<long long>(c.evicted), kept_fraction(c),
        std::string(finish_name(session_->finish())).c_str());
  }

  const Session& session() const { return *session_; }
  const std::string& text() const { return text_; }
  const RunTimes& times() const { return times_; }

 private:
  void take(std::string_view text) {
    text_ += text;
    if (options_.json || text.empty()) return;
    write_output(text);
    live_.wrote(text);
  }

  // Of the decode so far; the first token belongs to the prompt's time.
  double rate() const {
    const double decode = times_.decode_s > 0 ? times_.decode_s : seconds_since(start_) - times_.prefill_s;
    const int tokens = session_->generated_tokens() - 1;
    return times_.prefill_s > 0 && tokens > 0 && decode > 0 ? tokens / decode : 0;
  }

  std::string status() const {
    const Counters c = session_->counters();
    if (session_->generated_tokens() == 0) {
      return formatted(" %lld of %d prompt tokens read | %d/%d slots used | %lld evicted ",
                       static_cast<long long>(c.tokens_seen), session_->prompt_tokens(), c.slots_used,
                       engine_.memory().capacity, static_cast<long long>(c.evicted));
    }
    return formatted(" %lld seen | %d new | %.1f tokens/s | %d/%d slots used | %lld evicted ",
                     static_cast<long long>(c.tokens_seen), session_->generated_tokens(), rate(),
                     c.slots_used, engine_.memory().capacity, static_cast<long long>(c.evicted));
  }

  Engine& engine_;
  const RunOptions& options_;
  std::shared_ptr<Session> session_;
  LiveLine live_;
  Clock::time_point start_;
  std::string text_;
  RunTimes times_;
};

// Of prompt and answer, in tokens; within what the engine takes.
int longest_text(size_t prompt, int answer) {
  constexpr size_t kMost = 1 << 24;
  return static_cast<int>(std::min(kMost, prompt + static_cast<size_t>(answer)));
}

int exit_code(Finish finish) {
  if (finish == Finish::kNonFinite) {
    throw Error(ErrorCode::kNonFinite, "the model gave NaN or infinite logits; the file may be damaged");
  }
  return finish == Finish::kCancelled ? kExitInterrupted : kExitOk;
}

}  // namespace

int run_command(const Arguments& arguments) {
  std::optional<RunOptions> options = RunOptions::parse(arguments);
  if (!options) return kExitOk;
  const std::string prompt = read_prompt(*options);
  options->resolve_seeds();
  watch_interrupts();
  RunFiles files(*options);

  const Clock::time_point start = Clock::now();
  const std::shared_ptr<const Model> model = Model::load(options->model);
  options->preset.check(model->shape());
  const std::vector<int32_t> tokens = eval::prompt_tokens(*model, options->system, options->raw, prompt);
  CacheOptions cache = options->cache.options;
  if (cache.prefill == Prefill::kDense) cache.max_prompt = static_cast<int>(tokens.size());
  cache.expected_tokens = longest_text(tokens.size(), options->session.max_tokens);
  Engine engine(model, options->policy, cache, options->engine);
  const double load_s = seconds_since(start);

  Generation generation(engine, *options, tokens);
  print_start(*options, engine);
  print_warnings(*options, *model, engine, tokens.size());
  defer_interrupts();
  generation.run(files.logits);

  RunTimes times = generation.times();
  times.load_s = load_s;
  if (options->json)
    print_json(run_json(*options, *model, engine, generation.session(), tokens, generation.text(), times));
  generation.end_text();
  generation.print_summary();
  print_losses(engine);
  if (files.evictions) write_evictions(*files.evictions, generation.session().evictions());
  return exit_code(generation.session().finish());
}

}  // namespace vase::cli
