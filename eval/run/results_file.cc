#include "eval/run/results_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>

#include "eval/beginning_of.h"
#include "eval/json_text.h"
#include "eval/require_read.h"
#include "eval/require_regular.h"
#include "eval/run/hash.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr size_t kMostDifferences = 3;  // that a message names

std::string short_text(const json& value) {
  return beginning_of(value.is_string() ? value.get<std::string>() : value.dump());
}

// "sampling/temperature is 0.6 in this run and 0 in the folder DIR; ..."
std::string differences(const json& a, const std::string& here, const json& b, const std::string& there) {
  const json flat_a = a.flatten(), flat_b = b.flatten();
  std::set<std::string> keys;
  for (const json& flat : {flat_a, flat_b}) {
    for (const auto& [key, value] : flat.items()) keys.insert(key);
  }
  std::string text;
  size_t count = 0;
  for (const std::string& key : keys) {
    const json left = flat_a.value(key, json()), right = flat_b.value(key, json());
    if (left == right) continue;
    if (++count > kMostDifferences) continue;
    text += (text.empty() ? "" : "; ") + key.substr(1) + " is " +
            (flat_a.contains(key) ? short_text(left) : "not there") + " in " + here + " and " +
            (flat_b.contains(key) ? short_text(right) : "not there") + " in " + there;
  }
  if (count > kMostDifferences) text += "; and " + std::to_string(count - kMostDifferences) + " more";
  return text;
}

bool holds(const json& object, const char* key, json::value_t type) {
  return object.is_object() && object.contains(key) && object[key].type() == type;
}

bool all_hold(const json& list, std::initializer_list<std::pair<const char*, json::value_t>> keys) {
  return std::ranges::all_of(list, [&](const json& one) {
    return std::ranges::all_of(keys, [&](const auto& key) { return holds(one, key.first, key.second); });
  });
}

// Whether it has what readers of a folder rely on.
bool is_config(const json& file) {
  using enum json::value_t;
  if (!holds(file, "hash", string) || !holds(file, "config", object) ||
      !holds(file, "items", number_unsigned))
    return false;
  const json& config = file["config"];
  return holds(config, "tasks", array) && holds(config, "cells", array) &&
         all_hold(config["tasks"], {{"name", string}}) &&
         all_hold(config["cells"], {{"policy", string}, {"budget", number_unsigned}});
}

}  // namespace

uint64_t read_results(const std::string& path, const std::function<void(const ResultsLine&)>& on_line,
                      const char* advice) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kNotFound,
                "cannot read " + path + "; give a folder, or a file, that `vase eval` has written");
  }
  uint64_t offset = 0;
  size_t number = 0, bad = 0;
  for (std::string text; std::getline(in, text);) {
    if (in.eof()) break;  // no end: torn
    ++number;
    if (bad > 0) break;
    const json line = parse_json(text);
    if (line.is_discarded()) {
      bad = number;
      continue;
    }
    const uint64_t bytes = text.size() + 1;
    on_line({line, path + ":" + std::to_string(number), offset, bytes});
    offset += bytes;
  }
  require_read(in, path);
  if (bad > 0 && number > bad) {
    throw Error(ErrorCode::kCorrupt,
                path + ":" + std::to_string(bad) + ": not valid JSON, and more lines follow: " + advice);
  }
  return offset;
}

std::string config_hash(const json& config) {
  return hex_digits(hash_text(config.dump(-1, ' ', true, json::error_handler_t::replace)));
}

json read_config(const std::string& folder) {
  const std::string path = folder + "/" + kConfigName;
  require_regular(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Error(ErrorCode::kNotFound,
                folder + " holds no results of `vase eval run`: there is no " + kConfigName + " in it");
  }
  json config = parse_json(std::string{std::istreambuf_iterator<char>(in), {}});
  if (!is_config(config))
    throw Error(ErrorCode::kCorrupt,
                path + ": not a configuration that `vase eval run` has written; give another folder");
  if (config["config"].value("format", json(kResultsFormat)) > json(kResultsFormat))
    throw Error(ErrorCode::kUnsupported, folder + " was written by a newer version; read it with that one");
  if (config["hash"] != config_hash(config["config"]))
    throw Error(ErrorCode::kCorrupt, path + " was changed after the run began (its hash does not match): what the results "
                                            "were made with is not known; put back what was there, or give another folder");
  return config;
}

void require_same_config(const json& a, const std::string& here, const json& b, const std::string& there) {
  if (a["hash"] == b["hash"]) return;
  const std::string what = differences(a["config"], here, b["config"], there);
  throw Error(ErrorCode::kUsage, there + " holds results of another configuration: " +
                                     (what.empty() ? "their hashes differ" : what) +
                                     ". Give the same flags, or another folder");
}

void write_whole(const std::string& path, const std::string& content) {
  const std::string part = path + ".part" + std::to_string(getpid());
  errno = 0;
  std::ofstream out(part, std::ios::binary);
  out << content;
  out.close();
  if (out && std::rename(part.c_str(), path.c_str()) == 0) return;
  const std::string reason = errno ? std::string(": ") + std::strerror(errno) : "";
  std::remove(part.c_str());
  throw Error(ErrorCode::kResource, "cannot write " + path + reason);
}

}  // namespace vase::eval
