#include "kernels/simd_target.h"

#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "vase/error.h"
#include "vase/simd.h"

namespace vase {
namespace {

std::atomic<int64_t> forced_target{0};  // 0: the machine's best
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

const std::string& requested_target() {
  static const std::string name = [] {
    const char* value = std::getenv("VASE_SIMD");
    return std::string(value != nullptr ? value : "");
  }();
  return name;
}

Error unknown_target(std::string_view where, std::string_view name) {
  std::string allowed;
  for (const std::string& known : simd_targets()) allowed += (allowed.empty() ? "" : ", ") + known;
  return Error(ErrorCode::kUsage, std::string(where) + "unknown SIMD target '" + std::string(name) +
                                      "'; this machine can run: " + allowed);
}

// Before main(), so that no kernel can have run on another target.
[[maybe_unused]] const bool environment_applied = [] {
  if (kernels::is_simd_target(requested_target())) kernels::force_simd_target(requested_target());
  return true;
}();

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (int64_t target : machine_targets()) names.push_back(hwy::TargetName(target));
  return names;
}

std::string simd_target() {
  const int64_t forced = forced_target.load(std::memory_order_relaxed);
  return hwy::TargetName(forced != 0 ? forced : machine_targets().front());
}

void check_simd_request() {
  const std::string& name = requested_target();
  if (!name.empty() && !kernels::is_simd_target(name)) throw unknown_target("VASE_SIMD: ", name);
}

namespace kernels {

bool is_simd_target(std::string_view name) {
  const auto names = simd_targets();
  return std::find(names.begin(), names.end(), name) != names.end();
}

void force_simd_target(std::string_view name) {
  int64_t forced = 0;  // 0: no mask
  for (int64_t target : machine_targets()) {
    if (name == hwy::TargetName(target)) forced = target;
  }
  if (forced == 0 && !name.empty()) throw unknown_target("", name);
  hwy::SetSupportedTargetsForTest(forced);
  forced_target.store(forced, std::memory_order_relaxed);
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

}  // namespace kernels
}  // namespace vase
