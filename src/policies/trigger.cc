#include "policies/trigger.h"

#include <algorithm>

#include "vase/error.h"

namespace vase {

int next_eviction(Trigger trigger, int slots_used, int budget, int period) {
  if (trigger == Trigger::kGeneral) return std::max(budget + period, slots_used + 1);
  return (std::max(budget, slots_used) / period + 1) * period;
}

void validate_trigger(Trigger trigger, int budget, int buffer) {
  if (trigger != Trigger::kParity || budget % buffer == 0) return;
  const int below = budget / buffer * buffer;
  throw Error(ErrorCode::kUsage, "budget " + std::to_string(budget) + " is not a multiple of the buffer " +
                                     std::to_string(buffer) + ", which the parity trigger needs; use " +
                                     std::to_string(std::max(below, 2 * buffer)) + " or " +
                                     std::to_string(std::max(below, 2 * buffer) + buffer) + ", or the general trigger");
}

}  // namespace vase
