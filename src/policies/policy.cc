#include "vase/policy.h"

#include <algorithm>
#include <cmath>

#include "vase/error.h"
#include "vase/reader.h"

namespace vase {
namespace {

void check_sizes(const HeadView& head, std::span<uint32_t> kept) {
  const int keep = head.keep();
  if (keep >= 1 && keep <= head.candidates() && static_cast<int>(kept.size()) == keep) return;
  throw Error(ErrorCode::kUsage, "plan: cannot keep " + std::to_string(keep) + " of " +
                                     std::to_string(head.candidates()) + " candidates in a list of " +
                                     std::to_string(kept.size()) + "; keep = M - R must be 1 .. candidates");
}

// Marks what is kept. Throws when it is not a set of candidates: a plan like that would damage the cache.
void mark_distinct(std::span<const uint32_t> kept, std::span<uint8_t> marks, const Selector& selector) {
  std::fill(marks.begin(), marks.end(), uint8_t{0});
  for (uint32_t c : kept) {
    if (c < marks.size() && !marks[c]) {
      marks[c] = 1;
      continue;
    }
    throw Error(ErrorCode::kUsage, "plan: '" + selector.text() + "' chose candidate " + std::to_string(c) +
                                       (c < marks.size() ? ", which is kept already" : "") +
                                       "; allowed: each of 0 to " + std::to_string(marks.size() - 1) +
                                       " once, and only from its pool");
  }
}

// The name goes into the text of the policy, whose parts are divided by blanks.
void check_name(std::string_view name) {
  const bool printable = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
  if (printable && !name.empty()) return;
  throw Error(ErrorCode::kUsage, "policy: a scorer's name must be one word of printable characters, as 'my-score'");
}

// The marked indices, ascending: sorts in O(C).
void list_marked(std::span<const uint8_t> marks, std::span<uint32_t> kept) {
  size_t at = 0;
  for (size_t c = 0; c < marks.size(); ++c) {
    if (marks[c]) kept[at++] = static_cast<uint32_t>(c);
  }
}

}  // namespace

Policy::Policy(std::vector<std::shared_ptr<const Protector>> protectors, std::shared_ptr<const Scorer> scorer,
               std::shared_ptr<const Selector> selector)
    : protectors_(std::move(protectors)), scorer_(std::move(scorer)), selector_(std::move(selector)) {
  if (!scorer_ != !selector_) {
    throw Error(ErrorCode::kUsage, scorer_ ? "policy: '" + scorer_->text() + "' needs a selector beside it"
                                           : "policy: '" + selector_->text() + "' needs a scorer beside it");
  }
  if (std::find(protectors_.begin(), protectors_.end(), nullptr) != protectors_.end()) {
    throw Error(ErrorCode::kUsage, "policy: a rule of protection is null");
  }
  needs();  // throws when two parts do not go together
}

Policy::Policy(std::shared_ptr<const Reader> reader) : reader_(std::move(reader)) {
  if (!reader_) throw Error(ErrorCode::kUsage, "policy: the reader is null");
  if (reader_->block() < 1)
    throw Error(ErrorCode::kUsage, "policy: a block of '" + reader_->text() + "' has no tokens");
}

Policy Policy::with_scorer(std::shared_ptr<const Scorer> scorer) const {
  if (!scorer || !evicts()) {
    throw Error(ErrorCode::kUsage, !scorer ? "policy: the scorer is null"
                                           : "policy: '" + text() + "' never evicts, so it takes no scorer");
  }
  check_name(scorer->text());
  Policy policy = *this;
  policy.scorer_ = std::move(scorer);
  policy.needs();  // throws when two parts do not go together
  return policy;
}

PolicyNeeds Policy::needs() const {
  PolicyNeeds all;
  if (reads()) all.rope = reader_->needs_rope();
  if (!evicts()) return all;
  all.add(scorer_->needs());
  all.add(selector_->needs());
  for (const auto& rule : protectors_) all.add(rule->needs());
  return all;
}

std::string Policy::text() const {
  if (reads()) return "read=" + reader_->text();
  if (!evicts()) return "full";
  std::string text;
  for (const auto& rule : protectors_) text += (text.empty() ? "protect=" : ",") + rule->text();
  if (!text.empty()) text += ' ';
  text += "score=" + scorer_->text() + " select=" + selector_->text();
  if (order == Order::kScore) text += " order=score";
  if (share != Share::kHead) text += share == Share::kLayer ? " share=layer" : " share=model";
  return text;
}

int Policy::sinks() const {
  int tokens = 0;
  for (const auto& rule : protectors_) tokens = std::max(tokens, rule->sinks());
  return tokens;
}

bool Policy::protects_prompt() const {
  return std::any_of(protectors_.begin(), protectors_.end(), [](const auto& rule) { return rule->protects_prompt(); });
}

// Sinks are taken for prompt tokens where a rule promises both, so that no budget is refused that works.
int64_t Policy::smallest_budget(int buffer) const {
  int64_t prompt = 0, others = 1, budget = 1;
  for (const auto& rule : protectors_) {
    prompt += rule->promised_prompt();
    budget = std::max<int64_t>(budget, rule->smallest_budget());
  }
  for (const auto& rule : protectors_) {
    const int64_t within_prompt = std::min<int64_t>(rule->sinks(), prompt);
    others = std::max(others, rule->smallest_keep() - within_prompt);
  }
  return std::max(budget, prompt + others + buffer);
}

void Policy::check_share() const {
  if (share == Share::kHead) return;
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::kUsage, "policy: " + message); };
  for (const auto& rule : protectors_) {
    if (rule->by_position()) continue;
    fail("'" + rule->text() + "' differs from head to head, so heads cannot share what they keep; use share=head");
  }
  if (selector_->needs().log_weight)
    fail("log-weights belong to one head; '" + selector_->text() + "' needs share=head");
  if (order == Order::kScore) fail("heads that share what they keep need order=position");
}

void Policy::validate(int budget, int buffer) const {
  if (!evicts()) return;
  check_share();
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::kUsage, message); };
  if (buffer < 1) {
    fail("buffer " + std::to_string(buffer) + " is too small; the newest 1 or more tokens are always kept");
  }
  const std::string given = "budget " + std::to_string(budget) + " with buffer " + std::to_string(buffer);
  const std::string remedy = "; the smallest budget that works here is " + std::to_string(smallest_budget(buffer));
  if (budget <= buffer) fail(given + " leaves nothing to keep beside the buffer" + remedy);
  for (const auto& rule : protectors_) {
    if (budget - buffer >= rule->smallest_keep()) continue;
    fail(given + " keeps " + std::to_string(budget - buffer) + " older tokens, but '" + rule->text() + "' needs " +
         std::to_string(rule->smallest_keep()) + remedy);
  }
  if (budget < smallest_budget(buffer)) fail(given + " is less than the rules of protection promise together" + remedy);
}

void Policy::check(const ModelHeads& heads) const {
  if (scorer_) scorer_->check(heads);
  if (reader_) reader_->check(heads);
}

void Policy::plan(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> kept,
                  PlanTrace* trace) const {
  RandomDraws* const one = &draws;
  plan_with({&head, 1}, {&one, 1}, scratch, kept, trace);
}

void Policy::plan_shared(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                         std::span<uint32_t> kept, PlanTrace* trace) const {
  if (heads.empty() || heads.size() != draws.size()) {
    throw Error(ErrorCode::kUsage, "plan: " + std::to_string(heads.size()) + " heads with " +
                                       std::to_string(draws.size()) + " draws; give one draw per head, at least one");
  }
  plan_with(heads, draws, scratch, kept, trace);
}

// The mean of the heads' scores; scratch.shared holds the sum.
void Policy::score_heads(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                         std::span<float> scores) const {
  scorer_->score(heads[0], *draws[0], scratch, scores);
  if (heads.size() == 1) return;
  const auto sum = std::span(scratch.shared).first(scores.size());
  std::copy(scores.begin(), scores.end(), sum.begin());
  for (size_t h = 1; h < heads.size(); ++h) {
    scorer_->score(heads[h], *draws[h], scratch, scores);
    for (size_t c = 0; c < scores.size(); ++c) sum[c] += scores[c];
  }
  for (size_t c = 0; c < scores.size(); ++c) scores[c] = sum[c] / static_cast<float>(heads.size());
}

void Policy::plan_with(std::span<const HeadView> heads, std::span<RandomDraws* const> draws, PolicyScratch& scratch,
                       std::span<uint32_t> kept, PlanTrace* trace) const {
  if (!evicts()) throw Error(ErrorCode::kUsage, "plan: the policy '" + text() + "' never evicts");
  const HeadView& head = heads[0];
  check_sizes(head, kept);
  const int candidates = head.candidates(), keep = head.keep();
  const int slots = head.slots(), head_dim = head.keys.width;
  scratch.reserve(slots, head_dim, 64, PolicyScratch::work_for(needs(), head.group, slots, head_dim));
  const auto claimed = std::span(scratch.claimed).first(candidates);
  std::fill(claimed.begin(), claimed.end(), uint8_t{0});
  const auto carried = std::copy(head.log_weight.begin(), head.log_weight.end(), scratch.log_weight.begin());
  std::fill(carried, scratch.log_weight.begin() + candidates, 0.0f);
  const bool ordered = order == Order::kScore;

  Claims claims(claimed, std::span(scratch.order).first(keep), keep, ordered);
  for (const auto& rule : protectors_) rule->claim(head, *draws[0], scratch, claims);
  scratch.protection_truncated += claims.truncated();
  std::copy(claims.order().begin(), claims.order().end(), kept.begin());

  const auto scores = std::span(scratch.scores).first(candidates);
  if (claims.count() < keep || trace) {
    score_heads(heads, draws, scratch, scores);
    scratch.nonfinite_scores +=
        std::count_if(scores.begin(), scores.end(), [](float score) { return !std::isfinite(score); });
  }
  if (trace) {
    trace->scores.assign(scores.begin(), scores.end());
    trace->protected_.assign(claims.order().begin(), claims.order().end());
  }
  if (claims.count() < keep) {
    selector_->select(head, scores, claims.unclaimed(scratch.pool), ordered, *draws[0], scratch,
                      kept.subspan(claims.count()));
  }
  mark_distinct(kept, claimed, *selector_);
  if (!ordered) list_marked(claimed, kept);
}

}  // namespace vase
