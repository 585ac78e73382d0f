// random:N - tokens chosen uniformly at random, anew at every eviction (docs/policies.md 4.6, `attn_random`): the
// control for `value`. N as there: number of tokens or percentage of the budget M, default 25%, sinks counted in it.
#pragma once

#include <algorithm>

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

class Chance final : public Protector {
 public:
  explicit Chance(Amount size) : size_(size) {}
  static std::shared_ptr<const Protector> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.draws = true}; }
  void claim(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, Claims& claims) const override;
  int smallest_keep() const override { return std::max(1, size_.fixed_tokens()); }
  std::string text() const override { return "random:" + size_.text(); }

 private:
  Amount size_;
};

}  // namespace vase
