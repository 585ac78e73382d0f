#include "arrays/npy_header.h"

#include <array>
#include <charconv>
#include <optional>

#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostHeaderBytes = 1 << 16;  // NumPy writes about 120
constexpr size_t kMostAxes = 8;
constexpr size_t kMostNumbers = size_t(1) << 40;

struct TypeName {
  std::string_view descr;
  NpyType type;
};
constexpr std::array<TypeName, 5> kTypes = {{{"<f2", NpyType::kF16},
                                             {"<f4", NpyType::kF32},
                                             {"<f8", NpyType::kF64},
                                             {"<i4", NpyType::kI32},
                                             {"<i8", NpyType::kI64}}};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and nothing else.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect("{");
    while (!take("}")) {
      const std::string_view key = string();
      expect(":");
      bool& seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (seen || (key != "descr" && key != "fortran_order" && key != "shape")) fail();
      seen = true;
      if (key == "descr") header.type = type();
      if (key == "fortran_order") header.fortran = boolean();
      if (key == "shape") read_shape(header);
      if (take("}")) break;
      expect(",");
    }
    skip_blanks();
    if (!text_.empty() || !descr || !order || !shape) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kCorrupt, name_ + " has a damaged header; write it with numpy.save or numpy.savez");
  }
  void skip_blanks() {
    const size_t at = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail();
  }
  std::string_view string() {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) fail();
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) fail();
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }
  bool boolean() {
    if (take("True")) return true;
    expect("False");
    return false;
  }
  NpyType type() {
    skip_blanks();
    if (text_.starts_with('[')) unsupported("a record type");
    const std::string_view descr = string();
    for (const TypeName& known : kTypes) {
      if (known.descr == descr) return known.type;
    }
    unsupported("type " + quoted(descr));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(
        ErrorCode::kUnsupported,
        name_ + " has " + what + "; allowed: little-endian f2, f4, f8, i4, i8, for example array.astype('<f4')");
  }
  void read_shape(NpyHeader& header) {
    expect("(");
    while (!take(")")) {
      skip_blanks();
      size_t length = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error == std::errc::invalid_argument) fail();
      if (error != std::errc() || length > kMostNumbers || (length > 0 && header.count > kMostNumbers / length)) {
        throw Error(ErrorCode::kCorrupt, name_ + " has a shape of more than 2^40 numbers");
      }
      text_.remove_prefix(end - text_.data());
      header.shape.push_back(length);
      header.count *= length;
      if (header.shape.size() > kMostAxes) throw Error(ErrorCode::kUnsupported, name_ + " has more than 8 axes");
      if (take(")")) break;
      expect(",");
    }
  }

  std::string_view text_;
  const std::string& name_;
};

}  // namespace

size_t npy_type_bytes(NpyType type) {
  if (type == NpyType::kF16) return 2;
  return type == NpyType::kF32 || type == NpyType::kI32 ? 4 : 8;
}

NpyHeader read_npy_header(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 4) {
    throw Error(ErrorCode::kCorrupt, name + " is no .npy array; write it with numpy.save or numpy.savez");
  }
  const auto byte = [&](size_t at) { return size_t(static_cast<unsigned char>(bytes[at])); };
  const size_t version = byte(6), length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
  if (version < 1 || version > 3) {
    throw Error(ErrorCode::kUnsupported,
                name + " has version " + std::to_string(version) + " of the .npy format; allowed: 1 to 3");
  }
  const auto truncated = [&] { return Error(ErrorCode::kCorrupt, name + " ends within its header; write it again"); };
  if (bytes.size() < start) throw truncated();
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > kMostHeaderBytes) {
    throw Error(ErrorCode::kCorrupt,
                name + " has a header of " + std::to_string(length) + " bytes; at most 65536 are allowed");
  }
  if (bytes.size() < start + length) throw truncated();
  NpyHeader header = HeaderReader(bytes.substr(start, length), name).read();
  header.data = start + length;
  return header;
}

}  // namespace vase::cli
