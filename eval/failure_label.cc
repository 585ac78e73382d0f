#include "eval/failure_label.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "vase/engine.h"

namespace vase::eval {
namespace {

constexpr char32_t kInvalid = 0xFFFD;

// One code point from the beginning of text, and the bytes that it takes.
std::pair<char32_t, size_t> decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xC2 ? 0
                        : byte(0) < 0xE0 ? 2
                        : byte(0) < 0xF0 ? 3
                        : byte(0) < 0xF5 ? 4
                                         : 0;
  if (length == 1) return {byte(0), 1};
  if (length == 0 || text.size() < length) return {kInvalid, 1};
  char32_t code = byte(0) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kInvalid, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {code, length};
}

std::u32string characters(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto [code, bytes] = decode(text);
    out += code;
    text.remove_prefix(bytes);
  }
  return out;
}

std::u32string_view last(std::u32string_view text, size_t count) {
  return text.substr(text.size() - std::min(count, text.size()));
}

bool is_garbage(std::u32string_view text) {
  if (std::ranges::count_if(last(text, 100), [](char32_t c) { return c > 0x7F; }) > 30) return true;
  std::map<char32_t, int> counts;
  for (char32_t c : last(text, 200)) {
    if (++counts[c] > 100) return true;
  }
  return false;
}

// A string of length n that comes 5 times in a row is a run of 4 n characters that equal the one n places before.
bool is_loop(std::u32string_view text) {
  text = last(text, 500);
  for (size_t length = 10; length <= 40; ++length) {
    size_t run = 0;
    for (size_t i = length; i < text.size(); ++i) {
      run = text[i] == text[i - length] ? run + 1 : 0;
      if (run == 4 * length) return true;
    }
  }
  return false;
}

bool is_truncated(std::string_view text, bool ended, bool thinking) {
  if (text.find("</think>") != std::string_view::npos) return false;
  return thinking || text.find("<think>") != std::string_view::npos || !ended;
}

}  // namespace

std::string_view label_name(FailureLabel label) {
  switch (label) {
    case FailureLabel::kOk: return "ok";
    case FailureLabel::kGarbage: return "garbage";
    case FailureLabel::kLoop: return "loop";
    case FailureLabel::kTruncated: return "truncated";
  }
  return "";
}

FailureLabel failure_label(std::string_view text, bool ended, bool thinking) {
  // No rule of characters looks at more than the last 500, of at most 4 bytes each; the cut may fall within one more.
  const std::u32string tail = characters(text.substr(text.size() - std::min<size_t>(2003, text.size())));
  if (is_garbage(tail)) return FailureLabel::kGarbage;
  if (is_loop(tail)) return FailureLabel::kLoop;
  return is_truncated(text, ended, thinking) ? FailureLabel::kTruncated : FailureLabel::kOk;
}

bool ended_itself(std::string_view finish) {
  return finish == finish_name(Finish::kEndOfText) || finish == finish_name(Finish::kStopString);
}

FailureLabel label_of(std::string_view text, std::string_view finish, bool thinking) {
  if (finish == finish_name(Finish::kRepetition)) return FailureLabel::kLoop;
  return failure_label(text, ended_itself(finish), thinking);
}

}  // namespace vase::eval
