// prompt - the whole prompt, or its ends (docs/policies.md 4.7 and 4.13: arXiv 2609.03430, 2605.18053).
//   prompt               every prompt token
//   prompt:10%           10 % of the budget M at each end of the prompt (rounded down); 0 % .. 100 %
//   prompt:first=a,last=b  a tokens at its start and b at its end, default 0, up to 1,048,576 each
// Prompt tokens count inside K but take at most K - 1, sinks included, so that one slot is always free to choose. When
// they do not fit, the start of the prompt goes before its end, each from its outside inwards; the eviction is counted
// as truncated.
#pragma once

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Prompt final : public Protector {
 public:
  Prompt(bool whole, Amount first, Amount last) : whole_(whole), first_(first), last_(last) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options);

  void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const override;
  bool protects_prompt() const override { return whole_; }
  bool by_position() const override { return true; }
  int promised_prompt() const override { return first_.fixed_tokens() + last_.fixed_tokens(); }
  std::string text() const override;

 private:
  bool whole_;
  Amount first_, last_;
};

}  // namespace vase
