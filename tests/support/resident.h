// Resident memory of this process.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace vase::test {

inline long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

// As cli/main.cc does: ggml takes and frees an aligned block per step, and glibc before 2.38 cuts each from fresh pages
// of the free heap unless freed neighbours are joined at once. Bounded, but larger than what is measured here.
inline void settle_heap() { mallopt(M_MXFAST, 0); }

// Under a sanitizer resident memory says nothing: its own bookkeeping grows.
constexpr bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

}  // namespace vase::test
