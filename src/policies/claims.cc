#include <string>

#include "vase/error.h"
#include "vase/policy.h"

namespace vase {

bool Claims::add(uint32_t candidate) {
  if (candidate >= claimed_.size()) {
    throw Error(ErrorCode::kUsage, "plan: a rule of protection claimed candidate " + std::to_string(candidate) +
                                       "; allowed: 0 to " + std::to_string(claimed_.size() - 1));
  }
  if (has(candidate)) return true;
  if (count_ == limit_) return false;
  claimed_[candidate] = kToken;
  order_[count_++] = candidate;
  return true;
}

bool Claims::add_prompt(uint32_t candidate) {
  if (!add(candidate)) return false;
  if (claimed_[candidate] != kPrompt) ++prompt_;
  claimed_[candidate] = kPrompt;
  return true;
}

std::span<uint32_t> Claims::unclaimed(std::span<uint32_t> pool) const {
  size_t found = 0;
  for (size_t c = 0; c < claimed_.size(); ++c) {
    if (!has(c)) pool[found++] = static_cast<uint32_t>(c);
  }
  return pool.first(found);
}

}  // namespace vase
