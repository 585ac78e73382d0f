#include "arrays/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arrays/npy_header.h"
#include "vase/error.h"
#include "vase/rows.h"

namespace vase::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");

template <typename Stored, typename Number>
std::vector<Number> converted(const char* data, size_t count) {
  std::vector<Number> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, data + i * sizeof(Stored), sizeof(Stored));
    numbers[i] = static_cast<Number>(stored);
  }
  return numbers;
}

std::vector<float> from_halves(const char* data, size_t count) {
  std::vector<float> numbers(count);
  const RowsView view{.base = data, .stride = 2, .type = RowType::kF16, .width = 1};
  for (size_t i = 0; i < count; ++i) read_row(view, i, &numbers[i]);
  return numbers;
}

// From Fortran order, where the first axis is contiguous.
template <typename Number>
std::vector<Number> to_row_major(const std::vector<Number>& numbers, std::span<const size_t> shape) {
  std::vector<Number> out(numbers.size());
  std::vector<size_t> index(shape.size());
  for (Number& number : out) {
    size_t at = 0;
    for (size_t axis = shape.size(); axis-- > 0;) at = at * shape[axis] + index[axis];
    number = numbers[at];
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return out;
}

template <typename Number>
std::string bytes_of(const char* descr, std::span<const size_t> shape, std::span<const Number> numbers) {
  std::string header =
      std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr size_t kBefore = 10, kAlign = 64;  // magic, version and length; NumPy maps files from aligned data
  header.append(kAlign - (kBefore + header.size() + 1) % kAlign, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {char(1), char(0), char(header.size() & 0xff), char(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  return bytes;
}

}  // namespace

const std::vector<float>& NpyArray::floats() const {
  if (const auto* held = std::get_if<std::vector<float>>(&numbers)) return *held;
  throw Error(ErrorCode::kUsage, name + " holds integers; floating-point numbers (f2, f4, f8) are needed");
}

const std::vector<int64_t>& NpyArray::integers() const {
  if (const auto* held = std::get_if<std::vector<int64_t>>(&numbers)) return *held;
  throw Error(ErrorCode::kUsage, name + " holds floating-point numbers; integers (i4, i8) are needed");
}

NpyArray read_npy(std::string_view bytes, const std::string& name) {
  const NpyHeader header = read_npy_header(bytes, name);
  const size_t wanted = header.count * npy_type_bytes(header.type), there = bytes.size() - header.data;
  if (there != wanted) {
    throw Error(ErrorCode::kCorrupt, name + " has " + std::to_string(there) + " bytes of numbers; its shape " +
                                         shape_text(header.shape) + " needs " + std::to_string(wanted));
  }
  NpyArray array{name, header.shape, {}};
  const char* data = bytes.data() + header.data;
  switch (header.type) {
    case NpyType::kF16: array.numbers = from_halves(data, header.count); break;
    case NpyType::kF32: array.numbers = converted<float, float>(data, header.count); break;
    case NpyType::kF64: array.numbers = converted<double, float>(data, header.count); break;
    case NpyType::kI32: array.numbers = converted<int32_t, int64_t>(data, header.count); break;
    case NpyType::kI64: array.numbers = converted<int64_t, int64_t>(data, header.count); break;
  }
  if (header.fortran && header.shape.size() > 1) {
    std::visit([&](auto& numbers) { numbers = to_row_major(numbers, header.shape); }, array.numbers);
  }
  return array;
}

std::string npy_bytes(std::span<const size_t> shape, std::span<const float> numbers) {
  return bytes_of("<f4", shape, numbers);
}
std::string npy_bytes(std::span<const size_t> shape, std::span<const int64_t> numbers) {
  return bytes_of("<i8", shape, numbers);
}
std::string npy_bytes(std::span<const size_t> shape, std::span<const uint8_t> marks) {
  return bytes_of("|b1", shape, marks);
}

std::string shape_text(std::span<const size_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace vase::cli
