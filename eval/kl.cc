#include "eval/kl.h"

#include <algorithm>

#include "eval/logits.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

// The first position at which a run may differ from the full cache; `positions` when there is none.
size_t first_different(const KlCell& cell, const MemoryPlan& plan, const Counters& counters, const Text& text) {
  const size_t positions = text.tokens.size();
  const Policy& policy = cell.policy;
  const CacheOptions& cache = cell.cache;
  if (cell.count_from) return std::min(positions, static_cast<size_t>(*cell.count_from));
  if (policy.evicts() && counters.evictions > 0) return counters.first_eviction;
  if (policy.evicts()) return plan.recent > 0 ? std::min<size_t>(positions, plan.recent) : positions;
  if (policy.reads()) return std::min<size_t>(positions, std::max(text.prompt_tokens, cache.budget));
  return 0;
}

size_t top(std::span<const float> values) { return std::ranges::max_element(values) - values.begin(); }

}  // namespace

CacheOptions cache_for(const Policy& policy, CacheOptions cache, const Text& text) {
  if (!policy.evicts()) cache.context = static_cast<int>(text.tokens.size());
  if (cache.prefill == Prefill::kDense) cache.max_prompt = std::max(1, text.prompt_tokens);
  return cache;
}

EngineOptions engine_for(const KlOptions& options) {
  return {.threads = options.threads, .chunk = options.chunk, .logit_rows = options.chunk};
}

Forced force_text(Engine& engine, const Text& text, const SessionOptions& session, const std::string& who,
                  const std::function<void(int64_t, std::span<const float>)>& on_logits) {
  try {
    return engine.force(text.tokens, text.prompt_tokens, session, on_logits);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNonFinite) throw;
    throw Error(e.code(), text.name + ", " + who + ": " + e.what());
  }
}

BoughtCache buy_cache(const ModelShape& shape, const Policy& policy, CacheOptions cache, double mib,
                      const std::vector<Text>& texts, const KlOptions& options) {
  cache.budget_mib = mib;
  for (const Text& text : texts) {
    cache.expected_tokens = std::max(cache.expected_tokens, static_cast<int>(text.tokens.size()));
    cache.max_prompt = std::max({1, cache.max_prompt, text.prompt_tokens});
  }
  const MemoryPlan plan = plan_memory(shape, policy, cache, {.threads = options.threads});
  return {decided(cache, policy, plan), plan};
}

FullCache::FullCache(std::shared_ptr<const Model> model, const Text& text, const KlOptions& options)
    : model_(std::move(model)), text_(text), vocabulary_(model_->shape().vocabulary) {
  log_p_.resize(text.tokens.size() * vocabulary_);
  Engine engine(model_, Policy(),
                {.context = static_cast<int>(text.tokens.size())}, engine_for(options));
  force_text(engine, text, {}, "full cache", [&](int64_t position, std::span<const float> logits) {
    const float normaliser = static_cast<float>(log_sum_exp(logits));
    float* row = log_p_.data() + static_cast<size_t>(position) * vocabulary_;
    for (size_t i = 0; i < vocabulary_; ++i) row[i] = logits[i] - normaliser;
  });
}

KlText FullCache::run(const KlCell& cell, const KlOptions& options) const {
  Engine engine(model_, cell.policy, cache_for(cell.policy, cell.cache, text_), engine_for(options));
  struct Row {
    float kl = 0;
    bool same_top = false;
    double nll = 0, full_nll = 0;
  };
  std::vector<Row> rows;
  SessionOptions session;
  session.evict_seed = cell.seed;
  const auto take = [&](int64_t position, std::span<const float> logits) {
    const std::span<const float> log_p(log_p_.data() + static_cast<size_t>(position) * vocabulary_, vocabulary_);
    const double normaliser = log_sum_exp(logits);
    Row row{static_cast<float>(kl_divergence(log_p, logits, normaliser)), top(log_p) == top(logits)};
    if (const size_t next = static_cast<size_t>(position) + 1; next < text_.tokens.size()) {
      row.nll = normaliser - logits[text_.tokens[next]];
      row.full_nll = -log_p[text_.tokens[next]];
    }
    rows.push_back(row);
  };
  const Counters counters = force_text(engine, text_, session, cell.text(), take).counters;
  KlText out{.text = text_.name,
             .tokens = static_cast<int>(text_.tokens.size()),
             .prompt_tokens = text_.prompt_tokens,
             .first_eviction = counters.first_eviction};
  const size_t first = first_different(cell, engine.memory(), counters, text_);
  for (size_t i = first; i < rows.size(); ++i) {
    out.kl.push_back(rows[i].kl);
    out.same_top += rows[i].same_top;
    if (i + 1 == rows.size()) continue;
    out.nll += rows[i].nll;
    out.full_nll += rows[i].full_nll;
    ++out.predicted;
  }
  return out;
}

KlText FullCache::compare(const KlCell& cell, const KlOptions& options) const {
  return run(cell, options);
}

KlText FullCache::compare_with_itself(int chunk, RowType type, KlOptions options, int64_t count_from) const {
  options.chunk = chunk;
  return run({Policy(), "full cache", {.key_type = type, .value_type = type}, 0, count_from}, options);
}

}  // namespace vase::eval
