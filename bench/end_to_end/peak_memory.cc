#include "end_to_end/peak_memory.h"

#include <fstream>
#include <string>

namespace vase::bench {

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

uint64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace vase::bench
