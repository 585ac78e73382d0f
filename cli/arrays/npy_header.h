// The header of a .npy file: a Python dictionary in a fixed form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vase::cli {

enum class NpyType { kF16, kF32, kF64, kI32, kI64 };
size_t npy_type_bytes(NpyType type);

struct NpyHeader {
  NpyType type = NpyType::kF32;
  bool fortran = false;       // the first axis is the contiguous one
  std::vector<size_t> shape;  // at most 8 axes
  size_t count = 1;           // product of the shape
  size_t data = 0;            // offset of the first number in the file
};

// bytes: a file, or at least its beginning. Throws Error(kCorrupt / kUnsupported) that begins with `name`.
NpyHeader read_npy_header(std::string_view bytes, const std::string& name);

}  // namespace vase::cli
