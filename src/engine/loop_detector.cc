#include "engine/loop_detector.h"

#include <algorithm>
#include <string>

#include "vase/error.h"

namespace vase {

LoopDetector::LoopDetector(int repeats) : repeats_(repeats), runs_(repeats == 0 ? 0 : kLongestPeriod) {
  if (repeats == 0 || (repeats >= kFewestRepeats && repeats <= kMostRepeats)) return;
  throw Error(ErrorCode::kUsage, "stop loops is " + std::to_string(repeats) + "; allowed: 0 (off), or " +
                                     std::to_string(kFewestRepeats) + " to " + std::to_string(kMostRepeats) +
                                     " repeats");
}

bool LoopDetector::ends_in_loop(std::span<const int32_t> tokens) {
  const int longest = static_cast<int>(std::min(runs_.size(), tokens.size() - 1));
  const int32_t* newest = &tokens.back();
  bool found = false;
  for (int period = 1; period <= longest; ++period) {
    int32_t& run = runs_[period - 1];
    run = *newest == *(newest - period) ? run + 1 : 0;
    // The first of the blocks equals nothing before it.
    found |= run >= std::max(repeats_ * period, kFewestTokens) - period;
  }
  return found;
}

}  // namespace vase
