// Every policy once at every size: a row that is there twice says nothing new and takes as long.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "vase/policy.h"

namespace vase::cli {

class GivenOnce {
 public:
  // name: of the policy, as the user wrote it. size: what it gets, as a flag says it ("--kv-budget 128"); may
  // be empty. Throws Error(kUsage) when the same policy, whatever its name, was added with this size before.
  void add(const std::string& name, const Policy& policy, const std::string& size = "");

 private:
  std::set<std::pair<std::string, std::string>> taken_;
};

std::string budget_flag(int tokens);
std::string megabytes_flag(double mib);

}  // namespace vase::cli
