#include "end_to_end/energy_meter.h"

#include <filesystem>
#include <fstream>

namespace vase::bench {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

// "package-0"; other zones are parts of a package, or hold it.
bool is_package(const fs::path& zone) {
  std::ifstream file(zone / "name");
  std::string name;
  return file >> name && name.starts_with("package");
}

}  // namespace

EnergyMeter::EnergyMeter(const std::string& root) {
  std::error_code error;
  for (const fs::directory_entry& zone : fs::directory_iterator(root, error)) {
    const std::string counter = (zone.path() / "energy_uj").string();
    const std::optional<uint64_t> range = read_number((zone.path() / "max_energy_range_uj").string());
    if (is_package(zone.path()) && range && read_number(counter)) packages_.push_back({counter, *range});
  }
}

void EnergyMeter::start() {
  for (Package& package : packages_) package.begin = read_number(package.counter).value_or(0);
}

std::optional<double> EnergyMeter::joules() {
  if (packages_.empty()) return std::nullopt;
  double sum = 0;
  for (const Package& package : packages_) {
    const std::optional<uint64_t> now = read_number(package.counter);
    if (!now) return std::nullopt;
    sum += static_cast<double>(*now >= package.begin ? *now - package.begin
                                                     : *now + package.range - package.begin);
  }
  return sum / 1e6;
}

}  // namespace vase::bench
