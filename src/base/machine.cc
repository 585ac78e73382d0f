#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace vase {
namespace {

constexpr int kMostCores = 256;
constexpr uint64_t kUnknown = UINT64_MAX;

int cores_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return static_cast<int>(std::thread::hardware_concurrency());
  std::set<std::string> cores;  // one entry per set of sibling threads
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : std::to_string(cpu));
  }
  return static_cast<int>(cores.size());
}

// Whole CPUs that the control group may use, rounded up.
int cpu_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || period <= 0) return kMostCores;  // "max 100000": no limit
  return static_cast<int>(std::ceil(quota / period));
}

uint64_t read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kUnknown;
}

// The number behind `name` in a file of "name value ..." lines.
uint64_t read_field(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word; file.ignore(1 << 10, '\n')) {
    uint64_t value = 0;
    if (word == name) return file >> value ? value : kUnknown;
  }
  return kUnknown;
}

uint64_t free_in_system() {
  const uint64_t kib = read_field("/proc/meminfo", "MemAvailable:");
  return kib == kUnknown ? kUnknown : kib * 1024;
}

// Cached files count as used there, but give way.
uint64_t free_in_group() {
  const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
  const uint64_t used = read_number("/sys/fs/cgroup/memory.current");
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  uint64_t cached = 0;
  for (const char* kind : {"inactive_file", "active_file"}) {
    const uint64_t bytes = read_field("/sys/fs/cgroup/memory.stat", kind);
    if (bytes != kUnknown) cached += bytes;
  }
  return std::min(limit, limit + cached - std::min(used, limit + cached));
}

}  // namespace

int physical_cores() { return std::clamp(std::min(cores_allowed(), cpu_quota()), 1, kMostCores); }

uint64_t available_memory() { return std::min(free_in_system(), free_in_group()); }

}  // namespace vase
