// How far a policy moves a model from its own full cache, teacher-forced: every token of a text is given, and the
// distribution over the next one is compared with that of the full cache. Cheap; how far it follows accuracy depends on
// the model (docs/eval.md, section 1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/texts.h"
#include "vase/engine.h"

namespace vase::eval {

// Eviction seeds that a policy is measured with: `seeds`, or 1 where nothing is drawn.
inline int seeds_of(const Policy& policy, int seeds) { return policy.needs().draws ? seeds : 1; }

// What is compared with the full cache: one row of the table.
struct KlCell {
  Policy policy;
  std::string name;      // as the user wrote it
  CacheOptions cache;    // its budget is this cell's; max_prompt is set here
  uint64_t seed = 0;     // of the evictions
  std::optional<int64_t> count_from = {};  // count all positions from this one on; else what KlText says

  // "snapkv at 128"
  std::string text() const {
    return policy.evicts() || policy.reads() ? name + " at " + std::to_string(cache.budget) : name;
  }
};

// One text in one cell. Only positions whose token came after the first eviction count; without one, those after the
// first row was quantised; with a policy that reads, those behind the prompt at which more than M tokens are held.
struct KlText {
  std::string text;                // its name
  int tokens = 0, prompt_tokens = 0;
  int64_t first_eviction = 0;      // tokens seen at it; 0 = never
  std::vector<float> kl;           // nats, per counted position
  int same_top = 0;                // counted positions whose most likely token is the same
  double nll = 0, full_nll = 0;    // nats, summed over the counted positions that have a next token
  int predicted = 0;               // those positions

  int64_t first_counted() const { return tokens - static_cast<int64_t>(kl.size()); }  // `tokens`: none
};

struct KlOptions {
  int threads = 0;   // 0 = physical cores
  int chunk = 64;    // tokens forced at a time: the engine cuts them where heads evict, so any chunk gives the same numbers
};

// The cache that a cell's run of a text of so many tokens takes: what depends on the text is set.
CacheOptions cache_for(const Policy& policy, CacheOptions cache, const Text& text);
EngineOptions engine_for(const KlOptions& options);

// Engine::force() over a text. Of logits that are no numbers, Error(kNonFinite) names the text and `who`: the policy.
Forced force_text(Engine& engine, const Text& text, const SessionOptions& session, const std::string& who,
                  const std::function<void(int64_t, std::span<const float>)>& on_logits);

// A cache whose M, and whose types if they are left open, megabytes have bought.
struct BoughtCache {
  CacheOptions cache;  // without the megabytes
  MemoryPlan plan;
};
// One for all texts: the longest decides, and the longest prompt with dense prefill. The plan is that of one sequence
// with the default chunk, as in `vase run`, so the same megabytes buy the same there. Throws Error(kUsage) as
// plan_memory().
BoughtCache buy_cache(const ModelShape& shape, const Policy& policy, CacheOptions cache, double mib,
                      const std::vector<Text>& texts, const KlOptions& options);

// The full cache's own distributions over one text: what every cell is compared with. Holds 4 B x vocabulary x tokens.
class FullCache {
 public:
  static uint64_t bytes_for(const Model& model, const Text& text) { return text.tokens.size() * sizeof(float) * model.shape().vocabulary; }

  FullCache(std::shared_ptr<const Model> model, const Text& text, const KlOptions& options);

  // Compares another run of the same text. Throws Error: kUsage when the cell's budget and policy do not go together,
  // and as force_text(), which the constructor does, too.
  KlText compare(const KlCell& cell, const KlOptions& options) const;
  // The same for the full cache itself with another chunk size and row type: what differs without any eviction. All
  // positions from the given one on count.
  KlText compare_with_itself(int chunk, RowType type, KlOptions options, int64_t count_from = 0) const;

 private:
  KlText run(const KlCell& cell, const KlOptions& options) const;

  std::shared_ptr<const Model> model_;
  const Text& text_;
  size_t vocabulary_;
  std::vector<float> log_p_;  // [tokens][vocabulary]
};

}  // namespace vase::eval
