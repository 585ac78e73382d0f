// The machine's sequential read bandwidth right now, measured in between other measurements.
#pragma once

#include "base/huge_buffer.h"

namespace vase::bench {

class ReadBandwidth {
 public:
  explicit ReadBandwidth(int threads);
  double measure();  // GB/s (10^9 bytes), all threads together

 private:
  HugeBuffer buffer_;
  int threads_;
};

}  // namespace vase::bench
