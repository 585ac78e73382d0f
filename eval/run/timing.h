// When and how fast a generation was made: differs from one time to the next, unlike all else in a record.
#pragma once

#include <string>

namespace vase::eval {

struct Timing {
  std::string process;      // names the process that generated it
  double start = 0;         // seconds since 1970
  double seconds = 0;       // from when it was begun to its last token, others running beside it
  double tokens_per_s = 0;  // generated tokens per second of these
};

// Of a generation of this process. start: unix_time().
Timing timing_of(double start, double seconds, int generated_tokens);

// Seconds since 1970.
double unix_time();

}  // namespace vase::eval
