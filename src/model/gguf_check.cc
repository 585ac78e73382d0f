#include "model/gguf_check.h"

#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/weight_types.h"
#include "vase/error.h"

namespace vase::model {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are read in place, little-endian");

// Shortest possible entries: key length, one character, type, one byte; name length, one character,
// dimensions, one dimension, type, offset. A count that needs more bytes than the file has is wrong.
constexpr uint64_t kSmallestKeyValue = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;
constexpr uint64_t kHeaderBytes = 4 + 4 + 8 + 8;
constexpr uint64_t kLongestString = 1u << 30;  // ggml's own limit
constexpr uint64_t kLongestArray = 1u << 30;   // ggml's own limit
constexpr uint64_t kLongestKey = 65535;        // the specification's limit
constexpr uint64_t kLargestAlignment = 1u << 20;

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 80)) out += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
  return out + (text.size() > 80 ? "...'" : "'");
}

// Bytes of a value of fixed size; 0 for an unknown type.
uint64_t value_bytes(uint32_t type) {
  switch (type) {
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_INT8:
    case GGUF_TYPE_BOOL:
      return 1;
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_INT16:
      return 2;
    case GGUF_TYPE_UINT32:
    case GGUF_TYPE_INT32:
    case GGUF_TYPE_FLOAT32:
      return 4;
    case GGUF_TYPE_UINT64:
    case GGUF_TYPE_INT64:
    case GGUF_TYPE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

// What a file that is no GGUF looks like, from its first bytes.
std::string describe_start(std::string_view start) {
  const auto begins = [start](std::string_view with) { return start.starts_with(with); };
  if (start.empty()) return "the file is empty; the download probably failed";
  if (start.find_first_not_of('\0') == std::string_view::npos) {
    return "it starts with zeros; the download probably did not finish";
  }
  if (begins("<"))
    return "it looks like a web page (HTML or XML); the download link probably led to an error page";
  if (begins("version https://git-lfs"))
    return "it is a Git LFS pointer; fetch the file itself with `git lfs pull`";
  if (begins("PK\x03\x04")) return "it is a zip or PyTorch file; convert it to GGUF first";
  if (start.size() > 8 && start[8] == '{')
    return "it looks like a safetensors file; convert it to GGUF first";
  for (const auto* old : {"GGML", "GGMF", "GGJT", "GGLA", "lmgg", "fmgg", "tjgg", "algg"}) {
    if (begins(old))
      return "it is of a format older than GGUF (" + quoted(start.substr(0, 4)) + "); convert it anew";
  }
  if (begins("FUGG")) return "it is a big-endian file, this machine is little-endian; convert it anew";
  char hex[16] = "";
  for (size_t i = 0; i < std::min<size_t>(4, start.size()); ++i) {
    std::snprintf(hex + 3 * i, 4, " %02x", static_cast<unsigned char>(start[i]));
  }
  return "it starts with " + quoted(start.substr(0, 4)) + " (hex" + hex + "), a GGUF file starts with 'GGUF'";
}

class Checker {
 public:
  Checker(std::span<const std::byte> bytes, const std::string& name)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name_(name) {}

  void run() {
    check_magic_and_version();
    const uint64_t tensors = read<uint64_t>("the number of tensors");
    const uint64_t pairs = read<uint64_t>("the number of keys");
    check_count(pairs, kSmallestKeyValue, "keys");
    for (uint64_t i = 0; i < pairs; ++i) check_key_value(i);
    check_count(tensors, kSmallestTensor, "tensors");
    for (uint64_t i = 0; i < tensors; ++i) check_tensor(i);
    check_data_size();
  }

 private:
  [[noreturn]] void fail(const std::string& what, ErrorCode code = ErrorCode::kCorrupt) const {
    throw Error(code, name_ + ": " + what);
  }
  [[noreturn]] void fail_cut(const std::string& where) const {
    fail("the file is cut off at byte " + std::to_string(text_.size()) + ", inside " + where +
         "; the download or copy probably did not finish");
  }
  uint64_t left() const { return text_.size() - at_; }

  template <typename T>
  T read(const std::string& where) {
    if (left() < sizeof(T)) fail_cut(where);
    T value;
    std::memcpy(&value, text_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::string_view read_string(uint64_t longest, const std::string& where) {
    const uint64_t size = read<uint64_t>(where);
    if (size > longest) {
      fail("a length of " + std::to_string(size) + " bytes in " + where + " is too large; at most " +
           std::to_string(longest) + " are allowed");
    }
    if (size > left()) fail_cut(where);
    const std::string_view value = text_.substr(at_, size);
    at_ += size;
    return value;
  }

  std::string_view read_name(uint64_t longest, const std::string& where) {
    const std::string_view value = read_string(longest, where);
    if (value.empty()) fail(where + " is empty");
    if (value.find('\0') != std::string_view::npos)
      fail(where + " " + quoted(value) + " has a NUL character in it");
    return value;
  }

  void check_magic_and_version() {
    if (!text_.starts_with("GGUF")) fail("this is no GGUF file: " + describe_start(text_.substr(0, 64)));
    at_ = 4;
    const uint32_t version = read<uint32_t>("the version");
    if (version != 0 && (version & 0xffff) == 0) {
      fail("this is a big-endian file, this machine is little-endian; convert it anew",
           ErrorCode::kUnsupported);
    }
    if (version < 2 || version > GGUF_VERSION) {
      fail("GGUF version " + std::to_string(version) + " is not supported; supported: 2 and 3",
           ErrorCode::kUnsupported);
    }
    if (text_.size() < kHeaderBytes) fail_cut("the header");
  }

  void check_count(uint64_t count, uint64_t smallest, const std::string& what) const {
    if (count <= left() / smallest) return;
    fail("the header says " + std::to_string(count) + " " + what + ", but only " + std::to_string(left()) +
         " bytes follow; the file is damaged or cut off");
  }

  void check_key_value(uint64_t index) {
    const std::string_view key = read_name(kLongestKey, "the name of key " + std::to_string(index));
    const std::string where = "key " + quoted(key);
    if (!keys_.insert(key).second) fail(where + " is there twice");
    const uint32_t type = read<uint32_t>(where);
    if (type == GGUF_TYPE_ARRAY) {
      check_array(where);
    } else if (key == GGUF_KEY_GENERAL_ALIGNMENT) {
      check_alignment(type, where);
    } else {
      check_values(type, 1, where);
    }
  }

  void check_array(const std::string& where) {
    const uint32_t type = read<uint32_t>(where);
    const uint64_t count = read<uint64_t>(where);
    if (count > kLongestArray) {
      fail(where + " has " + std::to_string(count) + " elements; at most " + std::to_string(kLongestArray) +
           " are allowed");
    }
    check_values(type, count, where);
  }

  // Steps over `count` values of one type.
  void check_values(uint32_t type, uint64_t count, const std::string& where) {
    if (type == GGUF_TYPE_STRING) {
      if (count > left() / 8) fail_cut(where);
      for (uint64_t i = 0; i < count; ++i) read_string(kLongestString, where);
      return;
    }
    if (type == GGUF_TYPE_ARRAY) fail(where + " is an array of arrays, which is not allowed");
    const uint64_t size = value_bytes(type);
    if (size == 0) fail(where + " has the unknown value type " + std::to_string(type));
    if (count > left() / size) fail_cut(where);
    at_ += count * size;
  }

  void check_alignment(uint32_t type, const std::string& where) {
    if (type != GGUF_TYPE_UINT32) fail(where + " must be of type u32");
    alignment_ = read<uint32_t>(where);
    if (!std::has_single_bit(alignment_) || alignment_ < 8 || alignment_ > kLargestAlignment) {
      fail(where + " is " + std::to_string(alignment_) + "; allowed: powers of two from 8 to " +
           std::to_string(kLargestAlignment));
    }
  }

  void check_tensor(uint64_t index) {
    const std::string_view name = read_name(GGML_MAX_NAME - 1, "the name of tensor " + std::to_string(index));
    const std::string where = "tensor " + quoted(name);
    if (!tensors_.insert(name).second) fail(where + " is there twice");
    const uint32_t dimensions = read<uint32_t>(where);
    if (dimensions < 1 || dimensions > GGML_MAX_DIMS) {
      fail(where + " has " + std::to_string(dimensions) + " dimensions; allowed: 1 to " +
           std::to_string(GGML_MAX_DIMS));
    }
    uint64_t row = 0, elements = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      const uint64_t size = read<uint64_t>(where);
      if (size < 1 || size > uint64_t(std::numeric_limits<int64_t>::max()) / elements) {
        fail(where + " has an impossible size of " + std::to_string(size) + " in dimension " +
             std::to_string(i));
      }
      if (i == 0) row = size;
      elements *= size;
    }
    check_tensor_data(where, row, elements);
  }

  void check_tensor_data(const std::string& where, uint64_t row, uint64_t elements) {
    const uint32_t id = read<uint32_t>(where);
    if (!is_supported_weight_type(id)) {
      const bool known = id < GGML_TYPE_COUNT && ggml_blck_size(ggml_type(id)) > 0;
      fail(where + " has the type " + std::to_string(id) +
               (known ? " (" + std::string(ggml_type_name(ggml_type(id))) + ")" : "") +
               ", which is not supported; supported: " + supported_weight_types(),
           ErrorCode::kUnsupported);
    }
    const uint64_t block = uint64_t(ggml_blck_size(ggml_type(id)));
    if (row % block != 0) {
      fail(where + " has rows of " + std::to_string(row) + " elements, not a multiple of the " +
           std::to_string(block) + " that its type " + ggml_type_name(ggml_type(id)) + " needs");
    }
    const uint64_t blocks = elements / block, size = ggml_type_size(ggml_type(id));
    const uint64_t offset = read<uint64_t>(where);
    // ggml reads only files whose tensors follow each other; a gap or an overlap means that offsets are
    // wrong.
    if (offset != end_) {
      fail(where + " lies at offset " + std::to_string(offset) + " of the data, expected is " +
           std::to_string(end_) +
           ": tensors must follow each other in the order of their listing, without gap or overlap");
    }
    if (blocks > uint64_t(std::numeric_limits<int64_t>::max()) / size)
      fail(where + " has an impossible number of bytes");
    const uint64_t needed = blocks * size;
    if (end_ + needed > uint64_t(std::numeric_limits<int64_t>::max()) - kLargestAlignment) {
      fail(where + " has an impossible number of bytes");
    }
    ends_.push_back({where, end_, end_ + needed});
    end_ = (end_ + needed + alignment_ - 1) / alignment_ * alignment_;
  }

  void check_data_size() const {
    const uint64_t start = (at_ + alignment_ - 1) / alignment_ * alignment_;
    const uint64_t present = text_.size() > start ? text_.size() - start : 0;
    for (const TensorEnd& tensor : ends_) {
      if (tensor.end <= present) continue;
      fail(tensor.where + " is cut off: it needs " + std::to_string(tensor.end - tensor.begin) + " bytes, " +
           std::to_string(present > tensor.begin ? present - tensor.begin : 0) +
           " are present; the download or copy probably did not finish");
    }
  }

  struct TensorEnd {
    std::string where;
    uint64_t begin, end;  // bytes from the start of the data
  };

  std::string_view text_;
  const std::string& name_;
  uint64_t at_ = 0;
  uint64_t alignment_ = GGUF_DEFAULT_ALIGNMENT;
  uint64_t end_ = 0;  // padded end of the data of the tensors so far
  std::unordered_set<std::string_view> keys_, tensors_;
  std::vector<TensorEnd> ends_;
};

}  // namespace

void check_gguf(std::span<const std::byte> bytes, const std::string& name) { Checker(bytes, name).run(); }

}  // namespace vase::model
