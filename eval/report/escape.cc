#include "eval/report/escape.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace vase::eval::report {
namespace {

using nlohmann::json;

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What is not UTF-8 is replaced on the way out.
std::string valid_utf8(std::string_view text) {
  const std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

void add_html(std::string& out, char c) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    case '\n': case '\t': out += c; return;
    default: is_control(c) ? out += kReplacement : out += c;
  }
}

void add_markdown(std::string& out, char c) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '\n': case '\r': case '\t': out += ' '; return;
    case '\\': case '`': case '*': case '_': case '[': case ']': case '|': case '~': case '$': case '#': case '!':
      out += '\\';
      out += c;
      return;
    default: is_control(c) ? out += kReplacement : out += c;
  }
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) add_html(out, c);
  return out;
}

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) add_markdown(out, c);
  return out;
}

size_t character_count(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += begins_character(c);
  return count;
}

std::string shortened(const std::string& text, size_t most) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i])) starts.push_back(i);
  }
  if (starts.size() <= most) return text;
  const size_t head = most / 2, tail = most - head - 1;
  return text.substr(0, starts[head]) + "…" + text.substr(starts[starts.size() - tail]);
}

}  // namespace vase::eval::report
