#include "require_memory.h"

#include "base/machine.h"
#include "vase/error.h"

namespace vase::cli {

void require_memory(uint64_t bytes, const std::string& what, const std::string& advice) {
  const uint64_t there = available_memory();
  if (bytes <= there) return;
  throw Error(ErrorCode::kResource, what + " takes " + std::to_string(bytes >> 20) + " MiB; " +
                                        std::to_string(there >> 20) + " MiB are free. " + advice);
}

}  // namespace vase::cli
