// Runs every counted case, between requests to callgrind that make it write the case's instructions to a file
// of its own under the case's name. scripts/instruction_counts.py runs it under valgrind and reads those
// files; by itself it counts nothing. Prints what the counts depend on: compiler, Highway, SIMD target.
#include <hwy/highway.h>

#include <cstdio>
#include <string>

#include "instructions/counted_case.h"
#include "vase/simd.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

namespace vase::bench {
namespace {

void count(const CountedCase& counted) {
  const std::function<void()> call = counted.prepare();
  call();
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
  call();
  CALLGRIND_DUMP_STATS_AT(counted.name.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
}

void print_build() {
#ifdef __clang__
  std::printf("build: clang %d", __clang_major__);
#else
  std::printf("build: gcc %d", __GNUC__);
#endif
  std::printf(", Highway %d.%d.%d, %s\n", HWY_MAJOR, HWY_MINOR, HWY_PATCH, simd_target().c_str());
}

}  // namespace
}  // namespace vase::bench

int main() {
  using namespace vase::bench;
  print_build();
  for (const auto& cases : {attention_cases(), product_cases(), eviction_cases()}) {
    for (const CountedCase& counted : cases) count(counted);
  }
}
#else
int main() {
  std::fprintf(stderr, "error: built without valgrind's headers; install valgrind and build again\n");
  return 1;
}
#endif
