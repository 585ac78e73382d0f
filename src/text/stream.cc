#include "text/stream.h"

#include <algorithm>

#include "vase/error.h"

namespace vase::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Sequence {
  size_t bytes = 0;  // bytes that belong together, at least 1
  enum { kValid, kInvalid, kIncomplete } state = kInvalid;
};

// The UTF-8 sequence at the start of a non-empty text (Unicode 15, table 3-7). An invalid or incomplete one covers the
// longest prefix of a valid sequence, so that one broken character gives one U+FFFD.
Sequence first_sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, Sequence::kValid};
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0) return {1, Sequence::kInvalid};
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {i, Sequence::kIncomplete};
    unsigned char low = 0x80, high = 0xBF;
    if (i == 1) {
      if (lead == 0xE0) low = 0xA0;   // overlong
      if (lead == 0xED) high = 0x9F;  // surrogates
      if (lead == 0xF0) low = 0x90;   // overlong
      if (lead == 0xF4) high = 0x8F;  // above U+10FFFF
    }
    if (byte(i) < low || byte(i) > high) return {i, Sequence::kInvalid};
  }
  return {length, Sequence::kValid};
}

// Moves whole characters from the front of `bytes`, at most up to `limit`, and replaces broken ones. A character that
// may still be completed stays, unless `last`.
std::string take_characters(std::string& bytes, size_t limit, bool last) {
  std::string out;
  size_t at = 0;
  while (at < limit) {
    const Sequence s = first_sequence(std::string_view(bytes).substr(at, limit - at));
    if (s.state == Sequence::kIncomplete && !last) break;
    out += s.state == Sequence::kValid ? std::string_view(bytes).substr(at, s.bytes) : kReplacement;
    at += s.bytes;
  }
  bytes.erase(0, at);
  return out;
}

// Length of the longest end of `text` that begins a stop string without completing it.
size_t open_stop(std::string_view text, const std::vector<std::string>& stops) {
  size_t longest = 0;
  for (const std::string& stop : stops) {
    for (size_t n = std::min(stop.size() - 1, text.size()); n > longest; --n) {
      if (text.ends_with(std::string_view(stop).substr(0, n))) longest = n;
    }
  }
  return longest;
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Sequence s = first_sequence(text.substr(at));
    if (s.state != Sequence::kValid) return at;
    at += s.bytes;
  }
  return std::string_view::npos;
}

TextStream::TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty()) throw Error(ErrorCode::kUsage, "a stop string is empty; give at least one character");
    if (find_invalid_utf8(stop) != std::string_view::npos) {
      throw Error(ErrorCode::kUsage, "a stop string is not valid UTF-8");
    }
  }
}

std::string TextStream::push(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;

  size_t begin = 0, end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    const size_t stop_end = at + stop.size();
    if (stop_end < end || (stop_end == end && at < begin)) {
      begin = at;
      end = stop_end;
    }
  }
  if (end == std::string::npos) return take_characters(held_, held_.size() - open_stop(held_, stops_), false);

  stopped_ = true;
  std::string text = take_characters(held_, begin, true);
  held_.clear();
  return text;
}

std::string TextStream::finish() { return take_characters(held_, held_.size(), true); }

}  // namespace vase::text
