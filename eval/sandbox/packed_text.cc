#include "eval/sandbox/packed_text.h"

#include <zlib.h>

#include <array>
#include <cstdint>

#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "packed tests: " + what + "; fetch the file again");
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::string from_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) fail("not base64");
    held = held << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

// Ends inflate() however it is left.
struct Inflater {
  z_stream stream = {};
  Inflater() {
    if (inflateInit(&stream) != Z_OK) throw Error(ErrorCode::kResource, "out of memory; packed tests need a few KiB");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

std::string inflated(const std::string& bytes) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib's interface; it does not write there
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 1 << 16> part;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) fail("not zlib, or cut off");
    text.append(part.data(), part.size() - stream.avail_out);
    if (text.size() > kMostBytes) fail("more than 1 GiB");
  }
  return text;
}

// The opcodes of a pickle that holds one text and nothing else.
class TextPickle {
 public:
  explicit TextPickle(std::string_view bytes) : rest_(bytes) {}

  std::string text() {
    std::string found;
    bool any = false;
    for (;;) {
      const char code = take(1)[0];
      if (code == '.') break;
      if (code == '\x8c' || code == 'X' || code == '\x8d') {
        if (any) fail("a pickle of more than one value");
        found = take(number(code == '\x8c' ? 1 : code == 'X' ? 4 : 8));
        any = true;
      } else {
        skip(code);
      }
    }
    if (!any || !rest_.empty()) fail("a pickle of something other than one text");
    return found;
  }

 private:
  // What frames the text or remembers it, and changes nothing: PROTO, FRAME, MEMOIZE, BINPUT, LONG_BINPUT.
  void skip(char code) {
    switch (code) {
      case '\x80':
        take(1);
        break;
      case '\x95':
        take(8);
        break;
      case '\x94':
        break;
      case 'q':
        take(1);
        break;
      case 'r':
        take(4);
        break;
      default:
        fail("a pickle of something other than a text; it is not run");
    }
  }

  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) fail("a pickle that is cut off");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  // Little-endian.
  uint64_t number(int bytes) {
    uint64_t value = 0;
    int shift = 0;
    for (const char c : take(bytes)) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::string unpack_text(std::string_view packed) {
  const std::string bytes = from_base64(packed);
  if (bytes.size() > kMostBytes) fail("more than 1 GiB");
  const std::string pickle = inflated(bytes);
  return TextPickle(pickle).text();
}

}  // namespace vase::eval
