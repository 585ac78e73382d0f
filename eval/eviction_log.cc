#include "eval/eviction_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "eval/json_text.h"
#include "eval/or_null.h"
#include "eval/require_read.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr double kMostSimilar = 1 + 1e-9;  // 1, rounded

// A reason, or nothing when the record can be what an engine has written.
std::string wrong_with(const EvictionRecord& r) {
  if (r.layer > 65535 || r.kv_head > 4095) return "layer or kv_head is too large";
  if (r.buffer < 1 || r.kept.size() <= size_t(r.buffer)) return "kept holds no more than the buffer";
  if (r.candidates < 1 || r.kept.size() - r.buffer > size_t(r.candidates)) return "kept holds more than the candidates";
  std::vector<int32_t> sorted = r.kept;
  std::ranges::sort(sorted);
  if (sorted.back() >= r.seen) return "kept holds a position outside of what was seen";
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "kept holds a position twice";
  if (sorted[sorted.size() - r.buffer] != r.seen - r.buffer) return "kept does not end with the buffer";
  if (*std::min_element(r.kept.end() - r.buffer, r.kept.end()) != r.seen - r.buffer)
    return "kept does not end with the buffer";
  return "";
}

// They throw Error without a place.
const json& field(const json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) throw Error(ErrorCode::kCorrupt, std::string("the field '") + name + "' is missing");
  return *found;
}

int32_t whole_number(const json& j, const char* name) {
  if (!j.is_number_integer() || j.get<int64_t>() < 0 || j.get<int64_t>() > INT32_MAX) {
    throw Error(ErrorCode::kCorrupt, std::string(name) + " is no whole number from 0 to 2147483647");
  }
  return j.get<int32_t>();
}

// Null or absent where there was nothing to compare, or nobody has.
std::optional<double> similarity(const json& line) {
  const auto found = line.find("value_similarity");
  if (found == line.end() || found->is_null()) return std::nullopt;
  if (!found->is_number() || found->get<double>() < 0 || found->get<double>() > kMostSimilar)
    throw Error(ErrorCode::kCorrupt, "value_similarity is no number from 0 to 1");
  return found->get<double>();
}

EvictionRecord parse_line(const std::string& text) {
  const json j = parse_json(text);
  if (j.is_discarded()) throw Error(ErrorCode::kCorrupt, "this is no JSON");
  if (!j.is_object()) throw Error(ErrorCode::kCorrupt, "this is no JSON object");
  const auto number = [&](const char* name) { return whole_number(field(j, name), name); };
  EvictionRecord r{.layer = number("layer"),
                   .kv_head = number("kv_head"),
                   .eviction = number("eviction"),
                   .seen = number("seen"),
                   .candidates = number("candidates"),
                   .buffer = number("buffer"),
                   .prompt_tokens = number("prompt_tokens"),
                   .kept = {},
                   .value_similarity = similarity(j)};
  const json& kept = field(j, "kept");
  if (!kept.is_array()) throw Error(ErrorCode::kCorrupt, "kept is no list of positions");
  for (const json& position : kept) r.kept.push_back(whole_number(position, "kept"));
  return r;
}

}  // namespace

std::string eviction_log_line(const EvictionRecord& r) {
  const json line = {{"layer", r.layer},
                     {"kv_head", r.kv_head},
                     {"eviction", r.eviction},
                     {"seen", r.seen},
                     {"candidates", r.candidates},
                     {"buffer", r.buffer},
                     {"prompt_tokens", r.prompt_tokens},
                     {"kept", r.kept},
                     {"value_similarity", or_null(r.value_similarity)}};
  return line.dump() + "\n";
}

std::vector<EvictionRecord> read_eviction_log(const std::string& path) {
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path))
    throw Error(ErrorCode::kNotFound,
                "cannot read " + path + "; give a log that `vase run --log-evictions` has written");
  std::vector<EvictionRecord> records;
  std::map<std::tuple<int64_t, int, int>, size_t> lines;  // eviction, layer and head: where they were
  size_t number = 0;
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kCorrupt, path + ", line " + std::to_string(number) + ": " + why +
                                         "; give a log that `vase run --log-evictions` has written");
  };
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      records.push_back(parse_line(line));
    } catch (const Error& e) {
      fail(e.what());
    }
    const EvictionRecord& last = records.back();
    if (const std::string wrong = wrong_with(last); !wrong.empty()) fail(wrong);
    const auto [first, is_new] = lines.emplace(std::tuple(last.eviction, last.layer, last.kv_head), number);
    if (!is_new)
      fail("eviction " + std::to_string(last.eviction) + ", layer " + std::to_string(last.layer) + ", head " +
           std::to_string(last.kv_head) + " is in line " + std::to_string(first->second) +
           " as well, and one run has it once");
  }
  require_read(in, path);
  if (records.empty())
    throw Error(ErrorCode::kCorrupt, path + " holds no eviction; the text has fitted into the budget");
  return records;
}

}  // namespace vase::eval
