// A policy is three small parts: protect, score, select. It sees one KV head of one sequence at a time and is a
// pure function of the view, the budget and the random draws. It never touches the cache: the engine applies
// the plan that it returns.
//
// Words (docs/layouts.md): M budget, R buffer, n slots used at the eviction, C = n - R candidates, K = M - R kept.
// Candidates have logical indices 0 .. C-1: ascending position, or the gather order of the last eviction when the
// policy's order is Order::kScore. Every span that is "per candidate" has C elements in that order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vase/rows.h"

namespace vase {

// What the engine must keep for a policy. Anything not asked for costs neither memory nor time.
struct PolicyNeeds {
  bool attention = false;    // window attention mass per slot (policies.md 3.1, before smoothing)
  bool value_range = false;  // max - min of each value row, stored once when the row is appended
};

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

// One head at the moment of an eviction. Spans that the policy did not ask for are empty.
struct HeadView {
  int budget = 0;                         // M
  int buffer = 0;                         // R; the newest R slots are not among the candidates
  int prompt_tokens = 0;                  // P: positions below it belong to the prompt
  int group = 1;                          // G query heads share this KV head
  std::span<const int32_t> positions;     // [C] absolute position of each candidate
  std::span<const float> attention;       // [C] sum over the W window queries and the G heads of the probabilities
                                          //     normalised over the candidates; divide by W * G for the mean
  int attention_rows = 0;                 // W * G: number of probability rows summed in `attention`
  std::span<const float> value_range;     // [C]
  RowsView keys;                          // [C] rows of head_dim, post-RoPE at their original positions
  RowsView values;                        // [C] rows of head_dim

  int candidates() const { return static_cast<int>(positions.size()); }
  int keep() const { return budget - buffer; }  // K
};

// Random draws for one head at one eviction. The default is counter-based (Philox), keyed by seed, sequence,
// layer, head, eviction and purpose, with the counter = position, so a draw never depends on threads, batch or
// slot order. Tests inject recorded draws.
class RandomDraws {
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

// Memory that the parts may use during one call, so that an eviction allocates nothing. Grown by reserve() only.
struct PolicyScratch {
  std::vector<float> scores, smoothed, draws, gaussian, energy;
  std::vector<double> keys;
  std::vector<uint8_t> claimed;         // [C] 1 = protected
  std::vector<uint32_t> pool, order;    // candidate indices
  uint64_t nonfinite_scores = 0;        // counted over the life of the scratch; NaN never wins a selection
  uint64_t protection_truncated = 0;    // evictions at which not all protected tokens fitted into K

  // Room for `candidates` candidates of `head_dim` channels and sketches of up to `sketch` columns.
  void reserve(int candidates, int head_dim, int sketch = 64);
};

// The set of candidates that rules have claimed so far, in claiming order.
class Claims {
 public:
  Claims(std::span<uint8_t> claimed, std::span<uint32_t> order, int limit);
  bool has(uint32_t candidate) const { return claimed_[candidate] != 0; }
  // Claims the candidate unless it is already claimed. False when the limit is reached.
  bool add(uint32_t candidate);
  int count() const { return count_; }
  int limit() const { return limit_; }
  std::span<const uint32_t> order() const { return order_.first(count_); }

 private:
  std::span<uint8_t> claimed_;
  std::span<uint32_t> order_;
  int limit_;
  int count_ = 0;
};

// Claims tokens that must survive. Rules run in the policy's order; the newest R are protected before any rule.
class Protector {
 public:
  virtual ~Protector() = default;
  virtual PolicyNeeds needs() const { return {}; }
  virtual void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const = 0;
  // Canonical text, e.g. "sinks:4".
  virtual std::string text() const = 0;
};

// One number per candidate; larger means more worth keeping.
class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual PolicyNeeds needs() const { return {}; }
  virtual void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch,
                     std::span<float> out) const = 0;
  virtual std::string text() const = 0;
};

// Chooses `count` of the candidates in `pool` by their scores; returns them in gather order in out[0 .. count).
class Selector {
 public:
  virtual ~Selector() = default;
  virtual void select(const HeadView& head, std::span<const float> scores, std::span<const uint32_t> pool,
                      int count, RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const = 0;
  virtual std::string text() const = 0;
};

struct PolicyInfo {
  std::string name;     // preset name, e.g. "vase-attnv"
  std::string summary;  // one line
  std::string source;   // paper or "control"
  std::string text;     // the composition that the preset stands for
};

// A complete policy. `full` (never evicts) has no parts.
class Policy {
 public:
  // Parses a preset name, a composition "protect=a,b score=c select=d", or a preset followed by overrides
  // ("vase-attnv protect+=prompt"). Throws Error(kUsage) that points at the wrong word and names the nearest.
  static Policy parse(std::string_view text);
  static const std::vector<PolicyInfo>& presets();

  bool evicts() const { return scorer_ != nullptr; }
  PolicyNeeds needs() const;
  std::string text() const;  // canonical composition; parse(text()) is the same policy
  Order order = Order::kPosition;

  // Tokens that the `sinks` rule protects; the smallest budget is sinks + R + 1.
  int sinks() const;
  // Throws Error(kUsage) when the parts cannot work with this budget (numbers and the smallest that works named).
  void validate(int budget, int buffer) const;

  // Writes the K kept candidates of `head` to kept (size K): distinct, in ascending logical index when order is
  // kPosition, else in the order in which the parts returned them (protected first).
  void plan(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> kept) const;

  Policy() = default;  // `full`
  Policy(std::vector<std::shared_ptr<const Protector>> protectors, std::shared_ptr<const Scorer> scorer,
         std::shared_ptr<const Selector> selector);

 private:
  std::vector<std::shared_ptr<const Protector>> protectors_;
  std::shared_ptr<const Scorer> scorer_;
  std::shared_ptr<const Selector> selector_;
};

}  // namespace vase
