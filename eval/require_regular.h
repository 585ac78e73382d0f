// Refuses what is no regular file before it is opened: a pipe or a device would be waited for, or read, for ever.
#pragma once

#include <filesystem>

#include "vase/error.h"

namespace vase::eval {

// Throws Error(kUsage) that names the path. Links are followed. What is missing, or cannot be looked at, is left to
// whoever opens it.
inline void require_regular(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw Error(ErrorCode::kUsage,
              path.string() + " is a pipe, a device or a folder; give a file that `vase eval` has written");
}

}  // namespace vase::eval
