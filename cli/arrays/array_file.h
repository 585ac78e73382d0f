// Named arrays in a file (.npz, as numpy.savez and savez_compressed write it) or in a folder of .npy files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/npy.h"

namespace vase::cli {

class ArrayFile {
 public:
  // Throws Error: kNotFound, kCorrupt (no zip archive).
  static std::unique_ptr<ArrayFile> open(const std::string& path);
  virtual ~ArrayFile() = default;

  const std::string& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }  // without ".npy"
  // Throws Error as read_npy(), and kCorrupt for damaged compression.
  virtual NpyArray read(const std::string& name) const = 0;

 protected:
  explicit ArrayFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::vector<std::string> names_;
};

// The bytes of an .npz file, stored without compression. arrays: names and what npy_bytes() gave. Throws
// Error(kResource).
std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& arrays);

}  // namespace vase::cli
