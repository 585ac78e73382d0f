// The sandbox of the tests, or a reason why this machine has none.
#pragma once

#include <memory>
#include <string>

#include "eval/sandbox/sandbox.h"
#include "vase/error.h"

namespace vase::eval {

struct MaybeSandbox {
  std::unique_ptr<Sandbox> sandbox;
  std::string reason;
};

inline MaybeSandbox make_sandbox(const SandboxLimits& limits = {}) {
  try {
    return {std::make_unique<Sandbox>(limits), ""};
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported && e.code() != ErrorCode::kNotFound) throw;
    return {nullptr, e.what()};
  }
}

}  // namespace vase::eval
