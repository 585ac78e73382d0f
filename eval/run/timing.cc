#include "eval/run/timing.h"

#include <chrono>
#include <cstdint>
#include <random>

#include "eval/run/hash.h"

namespace vase::eval {
namespace {

// Different for every process.
const std::string& process_name() {
  static const std::string name = [] {
    std::random_device device;
    return hex_digits(uint64_t(device()) << 32 | device());
  }();
  return name;
}

}  // namespace

Timing timing_of(double start, double seconds, int generated_tokens) {
  return {.process = process_name(),
          .start = start,
          .seconds = seconds,
          .tokens_per_s = seconds > 0 ? generated_tokens / seconds : 0};
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace vase::eval
