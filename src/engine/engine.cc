#include "vase/engine.h"

#include <algorithm>
#include <deque>

#include "cache/slot_cache.h"
#include "engine/engine_plan.h"
#include "engine/evicting_attention.h"
#include "engine/model_impl.h"
#include "engine/session.h"
#include "model/forward.h"
#include "vase/error.h"

namespace vase {
namespace {

int forward_tokens(const EngineOptions& options) {
  return options.sequences + std::max(options.chunk, options.logit_rows);
}

}  // namespace

struct Engine::Impl {
  std::shared_ptr<const Model> model;
  Policy policy;
  CacheOptions cache_options;
  EngineOptions options;
  EnginePlan plan;
  SlotCache cache;
  EvictingAttention attention;
  model::Forward forward;
  OnLogits on_logits;

  std::deque<std::shared_ptr<SessionState>> queue;
  std::vector<std::shared_ptr<SessionState>> running;  // [sequences], by cache slot; null = free

  // The step in hand; kept between steps so that nothing is allocated.
  std::vector<Span> spans;
  std::vector<int32_t> tokens, positions, outputs;
  std::vector<SessionState*> members;  // the session of each span

  Impl(std::shared_ptr<const Model> m, Policy p, const CacheOptions& c, const EngineOptions& o);

  bool evicts() const { return policy.evicts(); }
  int free_slot() const;
  void start(SessionState& session, int slot);
  void admit();
  void reap_cancelled(const OnText& on_text);
  void collect();
  void add_span(SessionState& session, std::span<const int32_t> fed);
  void run_and_advance();
  void take_outputs(std::span<const float> logits, const OnText& on_text);
  std::span<const float> logits;
};

Engine::Impl::Impl(std::shared_ptr<const Model> m, Policy p, const CacheOptions& c, const EngineOptions& o)
    : model(std::move(m)),
      policy(std::move(p)),
      cache_options(c),
      options(o),
      plan(plan_engine(model->shape(), policy, c, o)),
      cache(plan.cache, o.poison_free_rows),
      attention(cache, plan.attention),
      forward(model->impl().weights, {.threads = plan.attention.threads,
                                      .max_tokens = forward_tokens(o),
                                      .max_outputs = std::max(o.sequences, o.logit_rows)}),
      running(o.sequences) {
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

void Engine::Impl::reap_cancelled(const OnText& on_text) {
  const auto finish = [&](const std::shared_ptr<SessionState>& session) {
    const std::string text = session->end(Finish::kCancelled);
    on_text(*session, text);
  };
  for (auto& session : running) {
    if (!session || !session->cancelled()) continue;
    finish(session);
    session = nullptr;
  }
  for (auto it = queue.begin(); it != queue.end();) {
    if ((*it)->cancelled()) {
      finish(*it);
      it = queue.erase(it);
    } else {
      ++it;
    }
  }
}

void Engine::Impl::add_span(SessionState& session, std::span<const int32_t> fed) {
  spans.push_back({&session.sequence, static_cast<int>(tokens.size()), static_cast<int>(fed.size())});
  members.push_back(&session);
  for (size_t i = 0; i < fed.size(); ++i) {
    tokens.push_back(fed[i]);
    positions.push_back(static_cast<int32_t>(session.sequence.seen + i));
  }
}

// One token of every session that writes; the chunk is shared by those that still read, in slot order.
void Engine::Impl::collect() {
  spans.clear();
  members.clear();
  tokens.clear();
  positions.clear();
  outputs.clear();
  int chunk = options.chunk;
  for (const auto& session : running) {
    if (!session) continue;
    if (session->reading_prompt() && chunk == 0) continue;
    const std::span<const int32_t> fed = session->pending(chunk);
    if (session->reading_prompt()) chunk -= static_cast<int>(fed.size());
    add_span(*session, fed);
    if (session->sequence.seen + static_cast<int64_t>(fed.size()) >= session->prompt_tokens()) {
      outputs.push_back(static_cast<int32_t>(tokens.size()) - 1);
    }
  }
}

void Engine::Impl::run_and_advance() {
  attention.begin_step(spans);
  logits = forward.run({tokens, positions, outputs}, attention);
  for (size_t i = 0; i < spans.size(); ++i) {
    plan.attention.schedule.advance(members[i]->sequence, spans[i].tokens);
  }
  if (!options.log_evictions) return;
  for (auto& [sequence, record] : attention.take_log()) {
    for (SessionState* member : members) {
      if (&member->sequence == sequence) member->add_record(std::move(record));
    }
  }
}

void Engine::Impl::take_outputs(std::span<const float> rows, const OnText& on_text) {
  const size_t vocabulary = model->shape().vocabulary;
  for (SessionState* session : members) {
    if (session->reading_prompt()) continue;  // no row was asked for
    const std::span<const float> row = rows.first(vocabulary);
    rows = rows.subspan(vocabulary);
    if (on_logits) on_logits(*session, session->sequence.seen - 1, row);
    const std::string text = session->accept(row, *model->impl().tokenizer, plan.context);
    const bool over = session->finish() != Finish::kRunning;
    if (over || !text.empty()) on_text(*session, text);
    if (over) running[session->sequence.slot] = nullptr;
  }
}

Engine::Engine(std::shared_ptr<const Model> model, Policy policy, const CacheOptions& cache,
               const EngineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(policy), cache, options)) {}
Engine::~Engine() = default;

std::shared_ptr<Session> Engine::submit(std::vector<int32_t> prompt, const SessionOptions& options) {
  const int vocabulary = impl_->model->shape().vocabulary;
  if (prompt.empty()) throw Error(ErrorCode::kUsage, "the prompt is empty; give at least one token of text");
  int64_t limit = impl_->plan.context;
  if (impl_->evicts() && impl_->cache_options.prefill == Prefill::kDense) {
    limit = std::min<int64_t>(limit, impl_->cache_options.max_prompt);
  }
  if (static_cast<int64_t>(prompt.size()) > limit) {
    throw Error(ErrorCode::kUsage, "the prompt has " + std::to_string(prompt.size()) + " tokens; the context allows " +
                                       std::to_string(limit) + " (--ctx)");
  }
  for (int32_t token : prompt) {
    if (token < 0 || token >= vocabulary) {
      throw Error(ErrorCode::kUsage, "token " + std::to_string(token) + " is outside of the vocabulary, 0 to " +
                                         std::to_string(vocabulary - 1));
    }
  }
  auto session = std::make_shared<SessionState>(std::move(prompt), options, vocabulary);
  impl_->queue.push_back(session);
  return session;
}

int Engine::step(const OnText& on_text) {
  impl_->reap_cancelled(on_text);
  impl_->admit();
  impl_->collect();
  if (impl_->spans.empty()) return 0;
  impl_->run_and_advance();
  impl_->take_outputs(impl_->logits, on_text);
  const auto busy = std::ranges::count_if(impl_->running, [](const auto& s) { return s != nullptr; });
  return static_cast<int>(busy + impl_->queue.size());
}

void Engine::set_on_logits(OnLogits on_logits) { impl_->on_logits = std::move(on_logits); }

Counters Engine::force(std::span<const int32_t> tokens, int prompt_tokens, const SessionOptions& options,
                       const std::function<void(int64_t, std::span<const float>)>& on_logits) {
  const int slot = impl_->free_slot();
  if (slot < 0) throw Error(ErrorCode::kUsage, "teacher forcing needs a free sequence; all are in use");
  const std::shared_ptr<Session> submitted = submit({tokens.begin(), tokens.end()}, options);
  const auto session = impl_->queue.back();
  impl_->queue.pop_back();
  impl_->start(*session, slot);
  session->sequence.prompt_tokens = prompt_tokens;

  const size_t vocabulary = impl_->model->shape().vocabulary;
  const size_t rows = impl_->options.logit_rows;
  for (size_t fed = 0; fed < tokens.size(); fed += rows) {
    const std::span<const int32_t> part = tokens.subspan(fed, std::min(rows, tokens.size() - fed));
    impl_->spans.clear();
    impl_->members.clear();
    impl_->tokens.clear();
    impl_->positions.clear();
    impl_->outputs.clear();
    impl_->add_span(*session, part);
    for (size_t i = 0; i < part.size(); ++i) impl_->outputs.push_back(static_cast<int32_t>(i));
    impl_->run_and_advance();
    for (size_t i = 0; i < part.size(); ++i) {
      on_logits(static_cast<int64_t>(fed + i), impl_->logits.subspan(i * vocabulary, vocabulary));
    }
  }
  return session->counters();
}

const MemoryPlan& Engine::memory() const { return impl_->plan.memory; }
const Policy& Engine::policy() const { return impl_->policy; }
uint64_t Engine::nonfinite_scores() const { return impl_->attention.nonfinite_scores(); }
uint64_t Engine::protection_truncated() const { return impl_->attention.protection_truncated(); }

}  // namespace vase
