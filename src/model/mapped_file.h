// A whole file in memory, read-only: mapped where the system can, read into memory where it cannot.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/huge_buffer.h"

namespace vase::model {

class MappedFile {
 public:
  // Throws Error: kNotFound (missing, a directory, not readable), kCorrupt (not a regular file), kResource.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  // Lets the system drop the resident pages that lie wholly inside `part`; reading them again brings them
  // back.
  void forget(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
  HugeBuffer copy_;  // used when the file cannot be mapped
  bool mapped_ = false;
};

}  // namespace vase::model
