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

constexpr std::string_view kMarkdown = "\\`*_[]|~$#!";  // what a backslash makes a character of

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Of those that HTML and Markdown share; empty for others.
std::string_view entity_of(char c) { return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : ""; }

std::string html_of(char c) {
  if (c == '"') return "&quot;";
  if (c == '\'') return "&#39;";
  if (c == '\n' || c == '\t') return {c};
  if (is_control(c)) return kReplacement;
  const std::string_view entity = entity_of(c);
  return entity.empty() ? std::string{c} : std::string(entity);
}

std::string markdown_of(char c) {
  if (c == '\n' || c == '\r' || c == '\t') return " ";
  if (is_control(c)) return kReplacement;
  if (kMarkdown.find(c) != std::string_view::npos) return {'\\', c};
  const std::string_view entity = entity_of(c);
  return entity.empty() ? std::string{c} : std::string(entity);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) out += html_of(c);
  return out;
}

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) out += markdown_of(c);
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
