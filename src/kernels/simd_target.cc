#include "kernels/simd_target.h"

#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "vase/error.h"

namespace vase::kernels {
namespace {

std::atomic<int64_t> last_target{0};

// Targets of the machine, whatever is forced at the moment. Taken once, before anything is forced.
const std::vector<int64_t>& machine_targets() {
  static const std::vector<int64_t> targets = [] {
    std::vector<int64_t> all = hwy::SupportedAndGeneratedTargets();
    if (std::find(all.begin(), all.end(), HWY_STATIC_TARGET) == all.end()) all.push_back(HWY_STATIC_TARGET);
    return all;
  }();
  return targets;
}

// Before main(), so that no kernel can have run on another target.
[[maybe_unused]] const bool environment_applied = [] {
  const char* name = std::getenv("VASE_SIMD");
  if (name != nullptr && is_simd_target(name)) force_simd_target(name);
  return true;
}();

}  // namespace

std::vector<std::string_view> simd_targets() {
  std::vector<std::string_view> names;
  for (int64_t target : machine_targets()) names.push_back(hwy::TargetName(target));
  return names;
}

bool is_simd_target(std::string_view name) {
  const auto names = simd_targets();
  return std::find(names.begin(), names.end(), name) != names.end();
}

void force_simd_target(std::string_view name) {
  int64_t forced = 0;  // 0: no mask
  for (int64_t target : machine_targets()) {
    if (name == hwy::TargetName(target)) forced = target;
  }
  if (forced == 0 && !name.empty()) {
    std::string allowed;
    for (std::string_view known : simd_targets())
      allowed += (allowed.empty() ? "" : ", ") + std::string(known);
    throw Error(ErrorCode::kUsage,
                "unknown SIMD target '" + std::string(name) + "'; this machine can run: " + allowed);
  }
  hwy::SetSupportedTargetsForTest(forced);
}

std::string_view last_simd_target() {
  const int64_t target = last_target.load(std::memory_order_relaxed);
  return target == 0 ? "none" : hwy::TargetName(target);
}

void note_simd_target(int64_t target) {
  // Written only when it changes: threads would otherwise fight for the cache line on every call.
  if (last_target.load(std::memory_order_relaxed) != target)
    last_target.store(target, std::memory_order_relaxed);
}

}  // namespace vase::kernels
