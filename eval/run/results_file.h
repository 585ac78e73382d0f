// results.jsonl as a file: lines that are there, and a last one that a kill may have torn.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace vase::eval {

inline constexpr const char* kResultsName = "results.jsonl";
inline constexpr const char* kConfigName = "config.json";
// Of the folder, "format" in its configuration; grows when a reader of the old one would misread the new one.
inline constexpr int kResultsFormat = 1;

// One line: its JSON, where it stands ("DIR/results.jsonl:12", for messages), and its bytes in the file, the
// end included.
struct ResultsLine {
  const nlohmann::json& json;
  std::string where;
  uint64_t offset = 0, bytes = 0;
};

inline constexpr const char* kMendResults =
    "something else has written to this file; remove the line, and the next run generates what is missing";

// Calls back for every whole line; returns the bytes that these take. What follows them is a torn last line:
// one without an end, or one that is no JSON. Throws Error: kNotFound; kCorrupt with the line, for one that is no JSON and
// not the last; kResource when reading fails on the way. advice: the end of the message about a line.
uint64_t read_results(const std::string& path, const std::function<void(const ResultsLine&)>& on_line,
                      const char* advice = kMendResults);

// The hash of a configuration, 16 hex digits: that of config.json is over its "config".
std::string config_hash(const nlohmann::json& config);

// The content of a folder's config.json. Throws Error: kNotFound when the folder has none; kUsage where it is no file; kCorrupt, also
// when its hash is not that of its configuration; kUnsupported when a newer version has written it.
nlohmann::json read_config(const std::string& folder);

// Throws Error(kUsage) when the two configurations have different hashes, naming where they differ. here,
// there: what to call them, e.g. "this run" and "the folder DIR".
void require_same_config(const nlohmann::json& a, const std::string& here, const nlohmann::json& b,
                         const std::string& there);

// Writes the file whole or not at all. Throws Error(kResource).
void write_whole(const std::string& path, const std::string& content);

}  // namespace vase::eval
