#include "end_to_end/largest_batch.h"

#include <algorithm>

namespace vase::bench {

int largest_batch(const std::function<uint64_t(int)>& bytes, uint64_t limit, int most) {
  const auto fits = [&](int batch) { return batch <= most && bytes(batch) <= limit; };
  int low = 0, high = 1;  // low fits
  while (fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace vase::bench
