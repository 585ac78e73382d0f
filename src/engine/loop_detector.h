// Notices when a text goes round in an exact loop (SessionOptions::stop_loops).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vase {

class LoopDetector {
 public:
  static constexpr int kFewestRepeats = 3, kMostRepeats = 1000;
  static constexpr int kLongestPeriod = 2048;  // tokens
  static constexpr int kFewestTokens =
      512;  // of all repeats together: a table of zeros may be long and right

  // repeats: how often a block of tokens must come in a row, kFewestRepeats to kMostRepeats; 0 = never look,
  // which costs nothing. Else a token costs a comparison per period. Throws Error(kUsage) for other numbers.
  explicit LoopDetector(int repeats);

  // tokens: the whole text, not empty, with one token more than at the last call. Whether it ends in a block
  // of at most kLongestPeriod tokens `repeats` times in a row, or more often until that is kFewestTokens.
  bool ends_in_loop(std::span<const int32_t> tokens);

 private:
  int repeats_;
  std::vector<int32_t>
      runs_;  // [period - 1]: how many of the newest tokens in a row equal the one a period before
};

}  // namespace vase
