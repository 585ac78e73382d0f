// The records of a data file, whatever its format.
#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace vase::eval {

struct Record {
  nlohmann::json fields;  // an object; cells of a CSV file are texts
  std::string where;      // "data.jsonl:12", for messages
  size_t number = 0;      // from 0
};

// Hands over one record after the other: a file may be larger than memory, apart from one record.
//  .jsonl, .ndjson  one object per line; empty lines are skipped
//  .json            the same, or one list of objects
//  .csv             RFC 4180, the first row names the columns
// Throws Error: kNotFound; kUsage for another extension; kUnsupported for .parquet, with a word on how to convert it;
// kCorrupt with file and line. Errors of `use` pass.
void read_records(const std::string& path, const std::function<void(const Record&)>& use);

// Throws Error(kCorrupt): "<where>: <what>".
[[noreturn]] void fail_record(const Record& record, const std::string& what);

// The first of `names` that the record has, white space around it removed: a text, or a number in the notation of JSON.
// null counts as missing. Throws Error(kCorrupt) for another type.
std::optional<std::string> find_text(const Record& record, std::initializer_list<const char*> names);
// The same; throws Error(kCorrupt) when there is none or it is empty.
std::string text_field(const Record& record, std::initializer_list<const char*> names);

}  // namespace vase::eval
