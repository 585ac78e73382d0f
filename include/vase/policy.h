// A policy is three small parts: protect, score, select. It sees one KV head of one sequence at a time and is a
// pure function of the view, the budget and the random draws. It never touches the cache: the engine applies
// the plan that it returns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vase/export.h"
#include "vase/head_view.h"

namespace vase {

// How candidates are ordered after an eviction (smoothing and ties follow it).
enum class Order : uint8_t {
  kPosition,  // ascending position (default)
  kScore,     // order in which the parts returned them, as the authors' code of June 2026 does
};

// When a head evicts.
enum class Trigger : uint8_t {
  kGeneral,  // as soon as n reaches M + R, any M > R, any number of tokens per step (default)
  kParity,   // the authors' rule: one token appended, n > M and n mod R == 0; needs M mod R == 0 and dense prefill
};

// Which heads hold the same tokens.
enum class Share : uint8_t {
  kHead,   // every KV head of every layer evicts for itself (default)
  kLayer,  // all KV heads of a layer keep the same positions: scores are averaged over them
  kModel,  // the KV heads of equal number of all layers keep the same positions: scores are averaged over the layers
};

// Random draws for one head at one eviction. The default is counter-based (Philox), keyed by seed, sequence,
// layer, head, eviction and purpose, with the counter = position, so a draw never depends on threads, batch or
// slot order. Tests inject recorded draws.
class VASE_API RandomDraws {
 public:
  virtual ~RandomDraws() = default;
  // out[i] ~ U[0,1) for the token at positions[i].
  virtual void uniform(std::span<const int32_t> positions, std::span<float> out) = 0;
  // out[i] ~ Exp(1) for the token at positions[i]; never 0, never infinite.
  virtual void exponential(std::span<const int32_t> positions, std::span<float> out) = 0;
  // out ~ N(0,1): a matrix shared by all heads of the layer. resample = false gives the same matrix at every
  // eviction of the sequence (CurDKV), true a new one each time (VaSE-DKV).
  virtual void gaussian(bool resample, std::span<float> out) = 0;
};

// Memory for one call of Policy::plan, so that an eviction allocates nothing. Grown by reserve() only. Some of it
// belongs to plan() while a part runs; a part of your own may use the rest as it likes, for the time of one call.
struct VASE_API PolicyScratch {
  // Of plan(): a part must leave these alone, but for what it is handed.
  std::vector<float> scores;            // [C] the scorer's `out`, then the selector's `scores`
  std::vector<uint8_t> claimed;         // [C] how each candidate is claimed; held by Claims through all three parts
  std::vector<uint32_t> order;          // [C] claiming order; held by Claims through all three parts
  std::vector<uint32_t> pool;           // [n] candidate indices. Free in claim() and score(); in select() it is the
                                        //     `pool` that the selector is handed
  std::vector<float> log_weight;        // [C] what each candidate will carry; in select() the selector may change it
  std::vector<float> mixed, term;       // [C] of a mixture of scores, while its terms run
  std::vector<float> shared;            // [C] sum of the scores of heads that share what they keep
  // Free for any part. n is rounded up to a multiple of 16, so that kernels may write whole vectors.
  std::vector<float> energy;            // [n]
  std::vector<float> draws;             // [n]
  std::vector<double> keys;             // [n]
  std::vector<float> row;               // [padded head_dim] one decoded row
  std::vector<float> gaussian;          // [head_dim][sketch], and a tail that the kernels may read
  std::vector<float> work;              // [work_for()] vectors and logits of scores from stored queries or rotations
  // Counters, over the life of the scratch.
  uint64_t nonfinite_scores = 0;        // scores that were NaN or infinite; NaN never wins a selection
  uint64_t protection_truncated = 0;    // evictions at which not all protected tokens fitted into K
  uint64_t weightless_draws = 0;        // tokens that a weighted draw had to take without a positive weight

  // Room for n = `slots` slots, of which the candidates are part, of `head_dim` channels, and for sketches of up to
  // `sketch` columns. Never shrinks.
  void reserve(int slots, int head_dim, int sketch = 64, size_t work = 0);
  // Bytes that reserve() takes, and bytes that are taken now.
  static size_t bytes_for(int slots, int head_dim, int sketch = 64, size_t work = 0);
  // Floats of `work` that a policy with these needs takes, for heads of `group` query heads and up to `slots` slots.
  static size_t work_for(const PolicyNeeds& needs, int group, int slots, int head_dim);
  size_t bytes() const;
};

// The set of candidates that rules have claimed so far, in claiming order.
class VASE_API Claims {
 public:
  // claimed: [C] zeros; order: room for `limit` indices. `ordered`: the claiming order is the gather order, so rules
  // claim in their documented order; without it any order will do.
  Claims(std::span<uint8_t> claimed, std::span<uint32_t> order, int limit, bool ordered)
      : claimed_(claimed), order_(order), limit_(limit), ordered_(ordered) {}

  bool has(uint32_t candidate) const { return claimed_[candidate] != kFree; }
  // Claims the candidate unless it is already claimed. False when it is not and the limit is reached. Throws
  // Error(kUsage) when there is no such candidate.
  bool add(uint32_t candidate);
  // Same for a prompt token, which count_beside_prompt() leaves out, also when another rule has claimed it before.
  bool add_prompt(uint32_t candidate);
  // A token that had to be protected did not fit.
  void mark_truncated() { truncated_ = true; }

  int count() const { return count_; }
  int count_beside_prompt() const { return count_ - prompt_; }
  int limit() const { return limit_; }  // K
  bool ordered() const { return ordered_; }
  bool truncated() const { return truncated_; }
  std::span<const uint32_t> order() const { return order_.first(count_); }
  // Writes the candidates that are not claimed to pool, in ascending index; returns that part of it.
  std::span<uint32_t> unclaimed(std::span<uint32_t> pool) const;

 private:
  enum : uint8_t { kFree, kToken, kPrompt };
  std::span<uint8_t> claimed_;
  std::span<uint32_t> order_;
  int limit_;
  int count_ = 0;
  int prompt_ = 0;
  bool ordered_;
  bool truncated_ = false;
};

// The heads of a model, for parts that were made for a certain one.
struct ModelHeads {
  int layers = 0, kv_heads = 0, group = 0, head_dim = 0;
};

// Claims tokens that must survive. Rules run in the policy's order; the newest R are protected before any rule.
class VASE_API Protector {
 public:
  virtual ~Protector() = default;
  virtual PolicyNeeds needs() const { return {}; }
  virtual void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const = 0;
  // Tokens at the start of the text that the rule protects; 0 for most rules.
  virtual int sinks() const { return 0; }
  // Whether the rule protects every prompt token, as far as they fit.
  virtual bool protects_prompt() const { return false; }
  // Whether the rule looks at positions alone, so that it claims the same tokens in all heads; only such rules go with
  // Share::kLayer and kModel.
  virtual bool by_position() const { return false; }
  // Smallest K = M - R that holds what the rule promises; validate() refuses less.
  virtual int smallest_keep() const { return 1; }
  // Smallest M that holds what the rule promises whatever R is, and prompt tokens that it promises beside what other
  // rules do. Percentages promise nothing.
  virtual int smallest_budget() const { return 1; }
  virtual int promised_prompt() const { return 0; }
  // Canonical text, e.g. "sinks:4".
  virtual std::string text() const = 0;
};

// One number per candidate; larger means more worth keeping.
class VASE_API Scorer {
 public:
  virtual ~Scorer() = default;
  virtual PolicyNeeds needs() const { return {}; }
  virtual void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch,
                     std::span<float> out) const = 0;
  // Throws Error(kUsage) when the scorer was made for another model; for those that read a file.
  virtual void check(const ModelHeads&) const {}
  virtual std::string text() const = 0;
};

// Chooses out.size() of the candidates in `pool` (which it may permute) by their scores. out is in gather order when
// `ordered`, else in any order.
class VASE_API Selector {
 public:
  virtual ~Selector() = default;
  virtual PolicyNeeds needs() const { return {}; }
  virtual void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
                      RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const = 0;
  virtual std::string text() const = 0;
};

struct PolicyInfo {
  std::string name;     // preset name, e.g. "vase-attnv"
  std::string summary;  // one line
  std::string source;   // paper or "control"
  std::string text;     // the composition that the preset stands for
};

// A part that a policy's text can name.
struct PartInfo {
  struct Parameter {
    std::string_view name;      // "" for the option without a name, as in "sinks:4"
    std::string_view fallback;  // default
    std::string_view allowed;   // with units
    std::string_view meaning;
  };
  std::string_view kind;     // "protect", "score", "select" or "read"
  std::string_view name;
  std::string_view summary;  // one line, with the formula
  std::string_view source;   // paper or "control"
  std::span<const Parameter> parameters;
};

// What a plan was made from, for people who compare it with their own.
struct PlanTrace {
  std::vector<float> scores;        // [C]
  std::vector<uint32_t> protected_;  // candidates that the rules have claimed, in claiming order
};

class Reader;  // vase/reader.h

// A complete policy: parts that evict, or a reader that keeps every token and reads a part of them per step, or neither
// (`full`).
class VASE_API Policy {
 public:
  // Parses a preset name, a composition "protect=a,b score=c select=d order=position", or a preset followed by
  // overrides ("vase-attnv protect+=prompt"). Grammar and parts: src/policies/parse.h. Throws Error(kUsage) that
  // points at the wrong word and names the nearest.
  static Policy parse(std::string_view text);
  static const std::vector<PolicyInfo>& presets();
  // All parts: protectors in the order in which they run, then scorers, selectors and readers.
  static std::vector<PartInfo> parts();

  bool evicts() const { return scorer_ != nullptr; }
  bool reads() const { return reader_ != nullptr; }
  const Reader& reader() const { return *reader_; }  // only when reads()
  PolicyNeeds needs() const;
  std::string text() const;  // canonical composition; parse(text()) is the same policy
  Order order = Order::kPosition;
  Share share = Share::kHead;

  // Tokens that the `sinks` rule protects.
  int sinks() const;
  // Whether a rule protects the whole prompt: at most K - 1 tokens of it.
  bool protects_prompt() const;
  // Smallest M that validate() accepts with this R: R + 1, or R + sinks + 1, or R + the value slots asked for.
  int64_t smallest_budget(int buffer) const;
  // Throws Error(kUsage) when the parts cannot work with this budget (numbers and the smallest that works named), or
  // not with one another.
  void validate(int budget, int buffer) const;
  // Throws Error(kUsage) when a part was made for another model.
  void check(const ModelHeads& heads) const;

  // Writes the K kept candidates of `head` to kept (size K): distinct, in ascending logical index when order is
  // kPosition, else in the order in which the parts returned them (protected first). Needs 1 <= K <= C. Allocates
  // nothing when the scratch has been reserved for C and head_dim. Throws Error(kUsage) when the sizes do not fit, or
  // when a part returns a candidate twice or one that does not exist; `kept` is undefined then.
  // Afterwards scratch.log_weight[c] is what candidate c is to carry, when the policy needs log-weights.
  void plan(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> kept,
            PlanTrace* trace = nullptr) const;

  // The same for heads that share what they keep (Share::kLayer, kModel): one plan for all of them, with the mean of
  // their scores. Their candidates have the same positions in the same order. draws: one for each head, for its scores;
  // rules and selection take the first.
  void plan_shared(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                   std::span<uint32_t> kept, PlanTrace* trace = nullptr) const;

  Policy() = default;  // `full`
  // A scorer and a selector, or neither (`full`, whatever the rules). Throws Error(kUsage) for one without the other.
  Policy(std::vector<std::shared_ptr<const Protector>> protectors, std::shared_ptr<const Scorer> scorer,
         std::shared_ptr<const Selector> selector);
  // Keeps every token, reads what the reader chooses. Throws Error(kUsage) for null.
  explicit Policy(std::shared_ptr<const Reader> reader);
  // The same rules, selector and options with another scorer: how a text and a scorer of one's own go together, as in
  // parse("protect=sinks:4 score=uniform select=sample").with_scorer(mine). Throws Error(kUsage) for null, for `full`,
  // and for a scorer whose text() is not one printable word.
  Policy with_scorer(std::shared_ptr<const Scorer> scorer) const;

 private:
  void check_share() const;
  void plan_with(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                 std::span<uint32_t> kept, PlanTrace* trace) const;
  void score_heads(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                   std::span<float> scores) const;

  std::vector<std::shared_ptr<const Protector>> protectors_;
  std::shared_ptr<const Scorer> scorer_;
  std::shared_ptr<const Selector> selector_;
  std::shared_ptr<const Reader> reader_;
};

}  // namespace vase
