#include "vase/engine.h"

#include <algorithm>
#include <deque>
#include <exception>

#include "base/machine.h"
#include "cache/slot_cache.h"
#include "engine/engine_plan.h"
#include "engine/evicting_attention.h"
#include "engine/model_impl.h"
#include "engine/session.h"
#include "model/forward.h"
#include "model/key_offsets.h"
#include "model/rope.h"
#include "vase/error.h"

namespace vase {
namespace {

int forward_tokens(const EngineOptions& options) {
  return options.sequences + std::max(options.chunk, options.logit_rows);
}

// A plan that memory cannot hold is refused as a whole: allocated piece by piece, its first pieces would already have
// pushed other programs out.
EnginePlan that_fits(EnginePlan plan) {
  const uint64_t needed = plan.memory.bytes(), free = available_memory();
  if (needed <= free) return plan;
  throw Error(ErrorCode::kResource, "the cache takes " + std::to_string(needed >> 20) + " MiB, " +
                                        std::to_string(free >> 20) + " MiB are free; use a smaller budget or context");
}

}  // namespace

struct Engine::Impl {
  std::shared_ptr<const Model> model;
  Policy policy;
  CacheOptions cache_options;
  EngineOptions options;
  model::RopeTable rope;
  EnginePlan plan;
  SlotCache cache;
  std::unique_ptr<StepAttention> attention;
  model::Forward forward;
  OnLogits on_logits;

  std::deque<std::shared_ptr<SessionState>> queue;
  std::vector<std::shared_ptr<SessionState>> running;  // [sequences], by cache slot; null = free

  // The step in hand; kept between steps so that nothing is allocated.
  std::vector<Span> spans;
  std::vector<int32_t> tokens, positions, outputs;
  std::vector<std::shared_ptr<SessionState>> members;  // the session of each span
  std::span<const float> logits;

  // Texts that wait for their callback. They outlive a callback that throws and are delivered by the next step.
  struct Event {
    std::shared_ptr<SessionState> session;
    std::string text;
  };
  std::deque<Event> events;
  bool busy = false;  // inside step() or force()

  Impl(std::shared_ptr<const Model> m, Policy p, const CacheOptions& c, const EngineOptions& o);

  int free_slot() const;
  void check_tokens(std::span<const int32_t> tokens) const;
  int64_t longest_prompt() const;
  void start(SessionState& session, int slot);
  void admit();
  void reap_cancelled();
  void clear_step();
  void collect();
  // What a step may take of the tokens that a session has.
  std::span<const int32_t> fitting(const SessionState& session, std::span<const int32_t> tokens) const;
  void add_span(const std::shared_ptr<SessionState>& session, std::span<const int32_t> fed);
  void run_and_advance();
  void take_outputs();
  void deliver(const OnText& on_text);
};

Engine::Impl::Impl(std::shared_ptr<const Model> m, Policy p, const CacheOptions& c, const EngineOptions& o)
    : model(std::move(m)),
      policy(std::move(p)),
      cache_options(c),
      options(o),
      rope(model::rope_table(*model->impl().weights)),
      plan(that_fits(plan_engine(model->shape(), policy, c, o).with_rope(rope.view()))),
      cache(plan.cache, o.poison_free_rows),
      attention(make_attention(cache, plan)),
      forward(model->impl().weights, {.threads = plan.attention.threads,
                                      .max_tokens = forward_tokens(o),
                                      .max_outputs = std::max(o.sequences, o.logit_rows)}),
      running(o.sequences) {
  if (is_quantised(plan.cache.key_type)) cache.set_key_offsets(model::key_offsets(*model->impl().weights, rope.view()));
  spans.reserve(o.sequences);
  members.reserve(o.sequences);
  outputs.reserve(std::max(o.sequences, o.logit_rows));
  tokens.reserve(forward_tokens(o));
  positions.reserve(forward_tokens(o));
}

int Engine::Impl::free_slot() const {
  const auto it = std::ranges::find(running, nullptr);
  return it == running.end() ? -1 : static_cast<int>(it - running.begin());
}

void Engine::Impl::start(SessionState& session, int slot) {
  session.sequence.slot = slot;
  session.sequence.dense_prefill = cache_options.prefill == Prefill::kDense;
  cache.clear(slot);
}

void Engine::Impl::admit() {
  for (int slot = free_slot(); slot >= 0 && !queue.empty(); slot = free_slot()) {
    running[slot] = queue.front();
    queue.pop_front();
    start(*running[slot], slot);
  }
}

void Engine::Impl::reap_cancelled() {
  const auto cancelled = [&](const std::shared_ptr<SessionState>& session) {
    if (!session || !session->cancelled()) return false;
    events.push_back({session, session->end(Finish::kCancelled)});
    return true;
  };
  for (auto& session : running) {
    if (cancelled(session)) session = nullptr;
  }
  std::erase_if(queue, cancelled);
}

void Engine::Impl::clear_step() {
  spans.clear();
  members.clear();
  tokens.clear();
  positions.clear();
  outputs.clear();
}

void Engine::Impl::add_span(const std::shared_ptr<SessionState>& session, std::span<const int32_t> fed) {
  spans.push_back({&session->sequence, static_cast<int>(tokens.size()), static_cast<int>(fed.size())});
  members.push_back(session);
  for (size_t i = 0; i < fed.size(); ++i) {
    tokens.push_back(fed[i]);
    positions.push_back(static_cast<int32_t>(session->sequence.seen + i));
  }
}

// Heads that share what they keep evict at the end of a step.
std::span<const int32_t> Engine::Impl::fitting(const SessionState& session, std::span<const int32_t> list) const {
  if (policy.share == Share::kHead) return list;
  return list.first(plan.attention.schedule.next_run(session.sequence, static_cast<int>(list.size())).tokens);
}

// One token of every session that writes; the chunk is shared by those that still read, in slot order.
void Engine::Impl::collect() {
  clear_step();
  int chunk = options.chunk;
  for (const auto& session : running) {
    if (!session) continue;
    if (session->reading_prompt() && chunk == 0) continue;
    const std::span<const int32_t> fed = fitting(*session, session->pending(chunk));
    if (session->reading_prompt()) chunk -= static_cast<int>(fed.size());
    add_span(session, fed);
    if (session->sequence.seen + static_cast<int64_t>(fed.size()) >= session->prompt_tokens()) {
      outputs.push_back(static_cast<int32_t>(tokens.size()) - 1);
    }
  }
}

void Engine::Impl::run_and_advance() {
  attention->begin_step(spans);
  try {
    logits = forward.run({tokens, positions, outputs}, *attention);
  } catch (...) {  // some layers may have taken the tokens in and others not: these texts cannot go on
    for (const auto& member : members) member->cancel();
    throw;
  }
  attention->end_step();
  for (size_t i = 0; i < spans.size(); ++i) {
    plan.attention.schedule.advance(members[i]->sequence, spans[i].tokens);
  }
  if (!options.log_evictions) return;
  for (auto& [sequence, record] : attention->take_log()) {
    for (const auto& member : members) {
      if (&member->sequence == sequence) member->add_record(std::move(record));
    }
  }
}

// Brings every session up to date; what is to be said about it becomes an event. A callback that throws must not leave
// some sessions a token behind, so its exception waits until all are served.
void Engine::Impl::take_outputs() {
  const size_t vocabulary = model->shape().vocabulary;
  std::exception_ptr error;
  for (size_t i = 0, row = 0; i < members.size(); ++i) {
    SessionState& session = *members[i];
    if (session.reading_prompt()) continue;  // no row was asked for
    const std::span<const float> values = logits.subspan(vocabulary * row++, vocabulary);
    try {
      if (on_logits) on_logits(session, session.sequence.seen - 1, values);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
    std::string text = session.accept(values, *model->impl().tokenizer, plan.context);
    const bool over = session.finish() != Finish::kRunning;
    if (over || !text.empty()) events.push_back({members[i], std::move(text)});
    if (over) running[session.sequence.slot] = nullptr;
  }
  if (error) std::rethrow_exception(error);
}

void Engine::Impl::deliver(const OnText& on_text) {
  while (!events.empty()) {
    const Event event = std::move(events.front());
    events.pop_front();
    if (on_text) on_text(*event.session, event.text);
  }
}

namespace {

// Marks the engine as busy; a callback that steps or forces the engine that called it would find a half-made step.
class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag) {
    if (flag) throw Error(ErrorCode::kUsage, "an engine cannot be stepped or forced from inside its own callback");
    flag = true;
  }
  ~Busy() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

Engine::Engine(std::shared_ptr<const Model> model, Policy policy, const CacheOptions& cache,
               const EngineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(policy), cache, options)) {}
Engine::~Engine() = default;

void Engine::Impl::check_tokens(std::span<const int32_t> list) const {
  if (list.empty()) throw Error(ErrorCode::kUsage, "the prompt is empty; give at least one token of text");
  const int vocabulary = model->shape().vocabulary;
  for (int32_t token : list) {
    if (token >= 0 && token < vocabulary) continue;
    throw Error(ErrorCode::kUsage, "token " + std::to_string(token) + " is outside of the vocabulary, 0 to " +
                                       std::to_string(vocabulary - 1));
  }
  if (static_cast<int64_t>(list.size()) > plan.context) {
    throw Error(ErrorCode::kUsage, "the prompt has " + std::to_string(list.size()) + " tokens; the context allows " +
                                       std::to_string(plan.context) +
                                       " (the context option, or the memory given to `full`)");
  }
}

// Of a prompt that the capacity has room for before anything can be evicted.
int64_t Engine::Impl::longest_prompt() const {
  const bool bounded = policy.evicts() && cache_options.prefill == Prefill::kDense;
  return bounded ? cache_options.max_prompt : plan.context;
}

std::shared_ptr<Session> Engine::submit(std::vector<int32_t> prompt, const SessionOptions& options) {
  impl_->check_tokens(prompt);
  if (static_cast<int64_t>(prompt.size()) > impl_->longest_prompt()) {
    throw Error(ErrorCode::kUsage, "the prompt has " + std::to_string(prompt.size()) +
                                       " tokens; dense prefill was given room for " +
                                       std::to_string(impl_->longest_prompt()));
  }
  auto session = std::make_shared<SessionState>(std::move(prompt), options, impl_->model->shape().vocabulary);
  impl_->queue.push_back(session);
  return session;
}

int Engine::step(const OnText& on_text) {
  const Busy busy(impl_->busy);
  impl_->reap_cancelled();
  impl_->admit();
  impl_->collect();
  if (!impl_->spans.empty()) {
    impl_->run_and_advance();
    impl_->take_outputs();
  }
  impl_->deliver(on_text);
  impl_->attention->rethrow_error();
  const auto running = std::ranges::count_if(impl_->running, [](const auto& s) { return s != nullptr; });
  return static_cast<int>(running + impl_->queue.size());
}

void Engine::set_on_logits(OnLogits on_logits) { impl_->on_logits = std::move(on_logits); }

Forced Engine::force(std::span<const int32_t> tokens, int prompt_tokens, const SessionOptions& options,
                     const std::function<void(int64_t, std::span<const float>)>& on_logits) {
  const Busy busy(impl_->busy);
  impl_->check_tokens(tokens);
  const int64_t most = std::min<int64_t>(tokens.size(), impl_->longest_prompt());
  if (prompt_tokens < 0 || prompt_tokens > most) {
    throw Error(ErrorCode::kUsage, "the number of prompt tokens is " + std::to_string(prompt_tokens) +
                                       "; allowed: 0 to " + std::to_string(most));
  }
  const int slot = impl_->free_slot();
  if (slot < 0) throw Error(ErrorCode::kUsage, "teacher forcing needs a free sequence; all are in use");
  const size_t vocabulary = impl_->model->shape().vocabulary;
  const auto session = std::make_shared<SessionState>(std::vector<int32_t>(tokens.begin(), tokens.end()), options,
                                                      static_cast<int>(vocabulary));
  impl_->start(*session, slot);
  session->sequence.prompt_tokens = prompt_tokens;

  const size_t rows = impl_->options.logit_rows;
  for (size_t fed = 0; fed < tokens.size();) {
    const auto part = impl_->fitting(*session, tokens.subspan(fed, std::min(rows, tokens.size() - fed)));
    impl_->clear_step();
    impl_->add_span(session, part);
    for (size_t i = 0; i < part.size(); ++i) impl_->outputs.push_back(static_cast<int32_t>(i));
    impl_->run_and_advance();
    impl_->attention->rethrow_error();  // before anything else throws, so that no later call meets it
    for (size_t i = 0; i < part.size(); ++i) {
      const std::span<const float> row = impl_->logits.subspan(i * vocabulary, vocabulary);
      require_numbers(row, fed + i + 1);
      on_logits(static_cast<int64_t>(fed + i), row);
    }
    fed += part.size();
  }
  return {session->counters(), session->take_evictions()};
}

const MemoryPlan& Engine::memory() const { return impl_->plan.memory; }
const Policy& Engine::policy() const { return impl_->policy; }
uint64_t Engine::nonfinite_scores() const { return impl_->attention->nonfinite_scores(); }
uint64_t Engine::protection_truncated() const { return impl_->attention->protection_truncated(); }
uint64_t Engine::weightless_draws() const { return impl_->attention->weightless_draws(); }

}  // namespace vase
