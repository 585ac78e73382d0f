#include "eval/run/cell_run.h"

#include <algorithm>

#include "eval/number_text.h"
#include "eval/run/prompt.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr int kMostPositions = 1 << 24;
constexpr auto kTick = std::chrono::milliseconds(100);

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// context: of --ctx, 0 when it is not given. trained: tokens that the model was trained on.
void check_length(size_t tokens, int context, int trained, const Source& source, const Problem& problem) {
  const int limit = context > 0 ? context : trained;
  if (tokens < static_cast<size_t>(limit)) return;
  const std::string has =
      source.place_of(problem) + ": the prompt has " + std::to_string(tokens) + " tokens and leaves no room below ";
  throw Error(ErrorCode::kUsage,
              has + (context > 0 ? "--ctx " + std::to_string(limit) + "; give more, or leave the problem out"
                                 : "the " + std::to_string(limit) + " that the model was trained on; give --ctx to go "
                                   "beyond them, or leave the problem out"));
}

// The tokenizer does not know which problem its text is from.
std::vector<int32_t> tokens_of(const Model& model, const GenerationOptions& options, const Source& source,
                               const Problem& problem) {
  std::vector<int32_t> tokens;
  try {
    tokens = prompt_tokens(model, options.system, options.raw, problem.problem + source.task.instruction);
  } catch (const Error& e) {
    throw Error(e.code(), source.place_of(problem) + ": " + e.what());
  }
  if (tokens.empty()) throw Error(ErrorCode::kUsage, source.place_of(problem) + ": the prompt is empty");
  check_length(tokens.size(), options.cache.context, model.shape().trained_context, source, problem);
  return tokens;
}

}  // namespace

Prompts::Prompts(const Model& model, const RunPlan& plan, const GenerationOptions& options) {
  for (const Source& source : plan.sources) {
    for (const Problem& problem : source.task.problems) {
      std::vector<int32_t> tokens = tokens_of(model, options, source, problem);
      longest_ = std::max(longest_, static_cast<int>(tokens.size()));
      const bool thinking = opens_thinking(model, tokens);
      prompts_[&problem] = {std::move(tokens), thinking};
    }
  }
}

CacheOptions cell_cache(const Cell& cell, const GenerationOptions& options, int longest_prompt) {
  CacheOptions cache = options.cache;
  cache.auto_types = false;
  if (cell.budget > 0) cache.budget = cell.budget;
  if (cell.bought) {
    cache.key_type = cell.bought->key_type;
    cache.value_type = cell.bought->value_type;
  }
  if (cache.prefill == Prefill::kDense) cache.max_prompt = longest_prompt;
  if (!cell.policy.evicts()) {
    const int needed = longest_prompt + options.session.max_tokens;
    cache.context = cache.context > 0 ? std::min(cache.context, needed) : needed;
  }
  return cache;
}

void buy_budgets(RunPlan& plan, const GenerationOptions& options, const ModelShape& shape, int longest_prompt) {
  std::map<std::pair<std::string, int>, double> taken;
  for (Cell& cell : plan.cells) {
    if (!cell.bought) continue;
    CacheOptions cache = options.cache;
    cache.budget_mib = cell.bought->mib;
    cache.expected_tokens = std::min(kMostPositions, longest_prompt + options.session.max_tokens);
    if (cache.prefill == Prefill::kDense) cache.max_prompt = longest_prompt;
    const MemoryPlan bought = plan_memory(shape, cell.policy, cache, options.engine);
    cell.budget = bought.budget;
    cell.bought->key_type = bought.key_type;
    cell.bought->value_type = bought.value_type;
    const auto [other, fresh] = taken.insert({{cell.name, cell.budget}, cell.bought->mib});
    if (fresh) continue;
    throw Error(ErrorCode::kUsage, number_text("%g", cell.bought->mib) + " and " + number_text("%g", other->second) +
                                       " MiB buy '" + cell.name + "' the same " + std::to_string(cell.budget) +
                                       " tokens, which results could not tell apart; give sizes further apart");
  }
}

CellRun::CellRun(std::shared_ptr<const Model> model, const Cell& cell, const GenerationOptions& options,
                 const Prompts& prompts)
    : options_(options),
      prompts_(prompts),
      cache_(cell_cache(cell, options, prompts.longest())),
      engine_(std::move(model), cell.policy, cache_, options.engine) {}

bool CellRun::run(std::span<const Planned> items, const RunCallbacks& callbacks) {
  const auto sequences = static_cast<size_t>(options_.engine.sequences);
  Clock::time_point ticked = Clock::now();
  for (size_t next = 0; next < items.size() || !active_.empty();) {
    if (callbacks.stop()) return false;
    while (next < items.size() && active_.size() < sequences) begin(items[next++]);
    engine_.step([this](Session& session, std::string_view text) {
      std::ranges::find(active_, &session, [](const Active& a) { return a.session.get(); })->text += text;
    });
    finish_ended(callbacks);
    if (Clock::now() - ticked < kTick) continue;
    ticked = Clock::now();
    callbacks.on_tick(static_cast<int>(active_.size()), tokens());
  }
  return true;
}

void CellRun::begin(const Planned& planned) {
  SessionOptions session = options_.session;
  session.sampling.seed = planned.item.seed;
  session.evict_seed = planned.item.evict_seed;
  active_.push_back(
      {&planned, engine_.submit(prompts_.of(*planned.problem), session), "", unix_time(), Clock::now()});
}

void CellRun::finish_ended(const RunCallbacks& callbacks) {
  for (auto active = active_.begin(); active != active_.end();) {
    const Session& session = *active->session;
    if (session.finish() == Finish::kRunning) {
      ++active;
      continue;
    }
    const Planned& planned = *active->planned;
    if (session.finish() == Finish::kNonFinite) {
      active = active_.erase(active);
      callbacks.on_refused(planned, "the model gave NaN or infinite logits; the file may be damaged");
      continue;
    }
    Generation generation{.prompt = planned.prompt(),
                          .prompt_ids = prompts_.of(*planned.problem),
                          .text = std::move(active->text),
                          .tokens = {session.generated().begin(), session.generated().end()},
                          .thinking = prompts_.open_thinking(*planned.problem)};
    finished_tokens_ += session.generated_tokens();
    Result result = result_of(*active);
    active = active_.erase(active);
    callbacks.on_finished(planned, std::move(result), std::move(generation));
  }
}

Result CellRun::result_of(const Active& active) const {
  const Session& session = *active.session;
  return {.item = active.planned->item,
          .expected = active.planned->problem->answer,
          .extracted = {},
          .finish = std::string(finish_name(session.finish())),
          .prompt_tokens = session.prompt_tokens(),
          .generated_tokens = session.generated_tokens(),
          .evicted = session.counters().evicted,
          .kv_bytes = kv_bytes(session),
          .timing = timing_of(active.start, seconds_since(active.begun), session.generated_tokens())};
}

// A sequence that evicts has at most M + period slots, or the whole prompt if that was stored first. With
// layers of unequal budgets M is their mean, and so is this.
uint64_t CellRun::kv_bytes(const Session& session) const {
  const MemoryPlan& plan = engine_.memory();
  int64_t slots = session.counters().tokens_seen;
  if (engine_.policy().evicts()) {
    const int kept =
        cache_.prefill == Prefill::kDense ? std::max(plan.budget, session.prompt_tokens()) : plan.budget;
    slots = std::min<int64_t>(slots, kept + plan.period);
  }
  return plan.sequence_bytes(slots);
}

int64_t CellRun::tokens() const {
  int64_t sum = finished_tokens_;
  for (const Active& active : active_) sum += active.session->generated_tokens();
  return sum;
}

}  // namespace vase::eval
