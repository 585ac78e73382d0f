// Energy that the processor packages have taken, where the machine tells (RAPL).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vase::bench {

class EnergyMeter {
 public:
  // root: the kernel's folder of power caps. Packages whose counter cannot be read are left out.
  explicit EnergyMeter(const std::string& root = "/sys/class/powercap");

  // From now on; the counters may wrap once between two calls.
  void start();
  // Joules of all packages since start(); empty when no counter can be read.
  std::optional<double> joules();

 private:
  struct Package {
    std::string counter;  // file with microjoules
    uint64_t range = 0;   // where it wraps
    uint64_t begin = 0;
  };
  std::vector<Package> packages_;
};

}  // namespace vase::bench
