// Arrays in NumPy's .npy format, versions 1 to 3 (numpy.lib.format): little-endian f2, f4, f8, i4 and i8, in C or
// Fortran order. Whatever else a file holds is refused with a message that names the array and says what NumPy can do
// about it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vase::cli {

struct NpyArray {
  std::string name;           // for messages: "data.npz: K"
  std::vector<size_t> shape;  // outermost first
  // Row-major, whatever order the file had: f2, f4 and f8 as float (f8 is rounded), i4 and i8 as integers.
  std::variant<std::vector<float>, std::vector<int64_t>> numbers;

  // Throw Error(kUsage) when the array holds the other kind.
  const std::vector<float>& floats() const;
  const std::vector<int64_t>& integers() const;
};

// bytes: a whole file. Throws Error(kCorrupt) for what is no array, kUnsupported for another type.
NpyArray read_npy(std::string_view bytes, const std::string& name);

// A whole file, version 1, C order. numbers: as many as the shape says.
std::string npy_bytes(std::span<const size_t> shape, std::span<const float> numbers);    // <f4
std::string npy_bytes(std::span<const size_t> shape, std::span<const int64_t> numbers);  // <i8
std::string npy_bytes(std::span<const size_t> shape, std::span<const uint8_t> marks);    // |b1, each 0 or 1

// "(3, 4)" as Python writes it.
std::string shape_text(std::span<const size_t> shape);

}  // namespace vase::cli
