// The machine's sequential read bandwidth right now, measured in between other measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/huge_buffer.h"

namespace vase::bench {

// Reads all words as fast as one core can; returns their sum.
uint64_t read_words(std::span<const uint64_t> words);

class ReadBandwidth {
 public:
  static constexpr size_t kBytes = size_t(512) << 20;

  explicit ReadBandwidth(int threads);
  // GB/s (10^9 bytes), all threads together: the median of a few passes, after a moment in which the threads
  // of what ran before have gone to sleep.
  double measure();

 private:
  double pass();

  HugeBuffer buffer_;
  int threads_;
};

}  // namespace vase::bench
