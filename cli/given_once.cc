#include "given_once.h"

#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {

void GivenOnce::add(const std::string& name, const Policy& policy, const std::string& size) {
  if (taken_.emplace(policy.text(), size).second) return;
  throw Error(ErrorCode::kUsage, "--policy " + vase::quoted(name) + (size.empty() ? "" : " with " + size) +
                                     " is given twice; leave one out");
}

std::string budget_flag(int tokens) { return "--kv-budget " + std::to_string(tokens); }
std::string megabytes_flag(double mib) { return formatted("--kv-budget-mb %.10g", mib); }

}  // namespace vase::cli
