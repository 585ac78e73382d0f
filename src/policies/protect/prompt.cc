#include "policies/protect/prompt.h"

#include <algorithm>

#include "policies/parts.h"
#include "policies/protect/position_range.h"

namespace vase {
namespace {

void claim_prompt_token(uint32_t candidate, Claims& claims) {
  if (claims.has(candidate) || claims.count() < claims.limit() - 1) {
    claims.add_prompt(candidate);
  } else {
    claims.mark_truncated();
  }
}

}  // namespace

std::shared_ptr<const Protector> Prompt::parse(PartOptions& options) {
  if (options.has("")) {
    const Amount both = options.amount("", {});
    return std::make_shared<Prompt>(false, both, both);
  }
  const bool whole = !options.has("first") && !options.has("last");
  const Amount first = options.amount("first", {});
  return std::make_shared<Prompt>(whole, first, options.amount("last", {}));
}

void Prompt::claim(const HeadView& head, RandomDraws&, PolicyScratch& scratch, Claims& claims) const {
  const int prompt = head.prompt_tokens;
  const int head_end = whole_ ? prompt : std::min(prompt, first_.tokens(head.budget));
  const int tail_start = whole_ ? prompt : std::max(head_end, prompt - last_.tokens(head.budget));
  for (uint32_t candidate : candidates_between(head, 0, head_end, scratch)) claim_prompt_token(candidate, claims);
  const std::span<uint32_t> tail = candidates_between(head, tail_start, prompt, scratch);
  std::reverse(tail.begin(), tail.end());
  for (uint32_t candidate : tail) claim_prompt_token(candidate, claims);
}

std::string Prompt::text() const {
  return whole_ ? "prompt" : "prompt:first=" + first_.text() + ",last=" + last_.text();
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"", "whole prompt", "tokens, or 0% to 100% of M",
     "N at each end of the prompt"},
    {"first", "0", "tokens, or 0% to 100% of M",
     "at its start"},
    {"last", "0", "tokens, or 0% to 100% of M",
     "at its end"},
};

}  // namespace

const PartEntry<Protector> kPromptPart = {
    "prompt", &Prompt::parse,
    "the whole prompt, or its ends", "arXiv 2609.03430, 2605.18053", kParameters};

}  // namespace vase
