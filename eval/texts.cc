#include "eval/texts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/json_text.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kNotFound, "cannot read the text file " + path + "; give a readable file");
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

// The tokenizer does not know which file its text is from.
std::vector<int32_t> tokenized(const Model& model, const std::string& text, bool add_special,
                               const std::string& where) {
  try {
    return model.tokenize(text, add_special);
  } catch (const Error& e) {
    throw Error(e.code(), where + ": " + e.what());
  }
}

// Throws Error(kCorrupt) that names the place.
[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, where + ": " + what);
}

std::vector<int32_t> ids(const json& object, const char* key, int vocabulary, const std::string& where) {
  std::vector<int32_t> tokens;
  if (!object[key].is_array()) fail(where, std::string("\"") + key + "\" must be a list of token ids");
  for (const json& id : object[key]) {
    if (!id.is_number_integer() || id < 0 || id >= vocabulary) {
      fail(where, std::string("\"") + key + "\" holds " + id.dump() + "; allowed: token ids from 0 to " +
                      std::to_string(vocabulary - 1));
    }
    tokens.push_back(id);
  }
  return tokens;
}

std::string text_of(const json& object, const char* key, const std::string& where) {
  if (!object[key].is_string()) fail(where, std::string("\"") + key + "\" must be a text");
  return object[key];
}

std::vector<int32_t> prompt_of(const Model& model, const json& object, const std::string& where) {
  if (object.contains("prompt_ids")) return ids(object, "prompt_ids", model.shape().vocabulary, where);
  if (!object.contains("prompt")) return {};
  const ChatMessage message = {"user", text_of(object, "prompt", where)};
  return model.tokenize_chat({&message, 1});
}

Text parse_record(const Model& model, const json& object, const std::string& where, int most_tokens) {
  if (object.is_array())
    fail(where, "a list, not a JSON object; write one object per line, without brackets and commas around them");
  if (!object.is_object()) fail(where, "not a JSON object");
  Text text;
  text.name = object.contains("id") ? (object["id"].is_string() ? text_of(object, "id", where) : object["id"].dump())
                                    : where;
  text.tokens = prompt_of(model, object, where);
  text.prompt_tokens = static_cast<int>(text.tokens.size());
  std::vector<int32_t> rest;
  if (object.contains("tokens")) rest = ids(object, "tokens", model.shape().vocabulary, where);
  else if (object.contains("text")) rest = tokenized(model, text_of(object, "text", where), text.tokens.empty(), where);
  else fail(where, "needs \"tokens\" (ids) or \"text\"");
  rest.resize(std::min(rest.size(), static_cast<size_t>(most_tokens)));
  text.tokens.insert(text.tokens.end(), rest.begin(), rest.end());
  if (text.tokens.size() < 2) fail(where, "has fewer than two tokens");
  return text;
}

}  // namespace

std::vector<Text> read_texts(const Model& model, const std::string& path, int most_tokens, int texts) {
  const std::string content = read_file(path);
  const std::string extension = std::filesystem::path(path).extension();
  std::vector<Text> all;
  if (extension != ".jsonl" && extension != ".json") {
    Text text{path, tokenized(model, content, true, path), 0};
    text.tokens.resize(std::min(text.tokens.size(), static_cast<size_t>(most_tokens)));
    if (text.tokens.size() < 2) fail(path, "has fewer than two tokens");
    return {text};
  }
  if (const json whole = parse_json(content); whole.is_object()) {  // one object over many lines
    return {parse_record(model, whole, path, most_tokens)};
  }
  size_t line_number = 0;
  for (size_t from = 0; from < content.size() && (texts == 0 || all.size() < static_cast<size_t>(texts));) {
    const size_t end = std::min(content.find('\n', from), content.size());
    const std::string line = content.substr(from, end - from);
    from = end + 1;
    const std::string where = path + ":" + std::to_string(++line_number);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const json object = parse_json(line);
    if (object.is_discarded()) fail(where, "not valid JSON");
    all.push_back(parse_record(model, object, where, most_tokens));
  }
  if (all.empty()) fail(path, "holds no texts");
  return all;
}

size_t longest_of(const std::vector<Text>& texts) {
  size_t longest = 0;
  for (const Text& text : texts) longest = std::max(longest, text.tokens.size());
  return longest;
}

void make_names_differ(std::vector<Text>& texts) {
  std::set<std::string> taken;
  for (Text& text : texts) {
    const std::string name = text.name;
    for (int n = 2; !taken.insert(text.name).second; ++n) text.name = name + " (" + std::to_string(n) + ")";
  }
}

}  // namespace vase::eval
