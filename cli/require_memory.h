// Nothing is begun that memory cannot hold.
#pragma once

#include <cstdint>
#include <string>

namespace vase::cli {

// Throws Error(kResource): "<what> takes 4000 MiB; 3000 MiB are free. <advice>".
void require_memory(uint64_t bytes, const std::string& what, const std::string& advice);

}  // namespace vase::cli
