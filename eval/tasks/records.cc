#include "eval/tasks/records.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "eval/json_text.h"
#include "eval/require_read.h"
#include "eval/stripped.h"
#include "eval/tasks/csv.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;
using Use = std::function<void(const Record&)>;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr ptrdiff_t kMostExact = 15;  // digits of a decimal that a double keeps

[[noreturn]] void corrupt(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, where + ": " + what);
}

ptrdiff_t count_digits(std::string_view text) {
  return std::ranges::count_if(text, [](unsigned char c) { return std::isdigit(c); });
}

// A whole number, or a decimal written out. Of others digits may have been lost by now.
std::string exact_text(const Record& record, const char* name, const json& number) {
  std::string text = number.dump();
  if (!number.is_number_float()) return text;
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  const std::string_view digits = std::string_view(text).substr(std::min(text.find_first_of("123456789"), text.size()));
  if (text.find('e') == std::string::npos && count_digits(digits) <= kMostExact) return text;
  corrupt(record.where, std::string("the number of \"") + name +
                            "\" may have lost digits; allowed: whole numbers up to 18446744073709551615, and decimals of "
                            "at most 15 digits, not smaller than 0.0001; write others as a text, in quotes");
}

std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension;
}

std::ifstream open_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::kNotFound, "cannot read the data file " + path + "; give a readable file");
  }
  char mark[3] = {};
  if (!in.read(mark, 3) || std::string_view(mark, 3) != kByteOrderMark) {
    in.clear();
    in.seekg(0);
  }
  return in;
}

std::string read_rest(std::ifstream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

void use_object(json object, std::string where, size_t number, const Use& use) {
  if (object.is_discarded()) corrupt(where, "not valid JSON; write one object per line, in UTF-8");
  if (!object.is_object())
    corrupt(where, "not a JSON object; a record looks like {\"id\": ..., \"problem\": ..., \"answer\": ...}");
  use({std::move(object), std::move(where), number});
}

void read_lines(std::ifstream& in, const std::string& path, const Use& use) {
  size_t line_number = 0, records = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (line.find_first_not_of(kBlanks) == std::string::npos) continue;
    use_object(parse_json(line), path + ":" + std::to_string(line_number), records++, use);
  }
  require_read(in, path);
}

// ":12", the line at which the text stops being JSON; empty where that cannot be told.
std::string place_of_error(const std::string& text) {
  try {
    (void)json::parse(text);
  } catch (const json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
    return ":" + std::to_string(1 + std::count(text.begin(), end, '\n'));
  } catch (const json::exception&) {
  }
  return "";
}

void read_list(std::ifstream& in, const std::string& path, const Use& use) {
  const std::string text = read_rest(in);
  json list = parse_json(text);
  if (!list.is_array()) corrupt(path + place_of_error(text), "not a valid list of JSON objects");
  for (size_t i = 0; i < list.size(); ++i) {
    use_object(std::move(list[i]), path + ", item " + std::to_string(i + 1), i, use);
  }
}

void read_json(std::ifstream& in, const std::string& path, const Use& use) {
  const std::streampos start = in.tellg();
  const bool list = (in >> std::ws).peek() == '[';
  in.clear();
  in.seekg(start);  // lines are counted from the first
  if (list)
    read_list(in, path, use);
  else
    read_lines(in, path, use);
}

// The parser of JSON refuses what is not UTF-8; cells of a table have not gone through it.
json text_of_cell(const std::string& cell, const std::string& where) {
  json text = cell;
  try {
    text.dump();
  } catch (const json::exception&) {
    corrupt(where, "a cell is not valid UTF-8; convert the file");
  }
  return text;
}

// Of two columns with one name nobody could tell which is meant.
void require_different(const CsvRow& names, const std::string& path) {
  std::set<std::string> taken;
  for (const std::string& name : names.cells) {
    if (name.empty() || taken.insert(name).second) continue;
    corrupt(path + ":" + std::to_string(names.line),
            "two columns have the name \"" + name + "\"; rename one");
  }
}

void read_table(std::ifstream& in, const std::string& path, const Use& use) {
  const std::vector<CsvRow> rows = parse_csv(read_rest(in), path);
  if (!rows.empty()) require_different(rows[0], path);
  for (size_t r = 1; r < rows.size(); ++r) {
    const std::vector<std::string>&names = rows[0].cells, &cells = rows[r].cells;
    const std::string where = path + ":" + std::to_string(rows[r].line);
    if (cells.size() != names.size()) {
      corrupt(where, std::to_string(cells.size()) + " cells, but the first row names " + std::to_string(names.size()) +
                         " columns");
    }
    json object = json::object();
    for (size_t c = 0; c < cells.size(); ++c) object[names[c]] = text_of_cell(cells[c], where);
    use({std::move(object), where, r - 1});
  }
}

std::string quoted_names(std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "\"" : " or \"") + std::string(name) + "\"";
  return text;
}

}  // namespace

void read_records(const std::string& path, const Use& use) {
  const std::string extension = extension_of(path);
  if (extension == ".parquet") {
    throw Error(ErrorCode::kUnsupported,
                path +
                    ": Parquet is not read; convert it: python3 -c \"import pandas; pandas.read_parquet('FILE.parquet')"
                    ".to_json('FILE.jsonl', orient='records', lines=True)\"");
  }
  if (extension != ".jsonl" && extension != ".ndjson" && extension != ".json" && extension != ".csv") {
    throw Error(ErrorCode::kUsage, "the data file " + path + " has an unknown ending; allowed: .jsonl, .json, .csv");
  }
  std::ifstream in = open_file(path);
  if (extension == ".csv")
    read_table(in, path, use);
  else if (extension == ".json")
    read_json(in, path, use);
  else
    read_lines(in, path, use);
}

void fail_record(const Record& record, const std::string& what) { corrupt(record.where, what); }

std::optional<std::string> find_text(const Record& record, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = record.fields.find(name);
    if (found == record.fields.end() || found->is_null()) continue;
    if (found->is_number()) return exact_text(record, name, *found);
    if (!found->is_string()) fail_record(record, std::string("\"") + name + "\" must be a text or a number");
    return std::string(stripped(found->get_ref<const std::string&>()));
  }
  return std::nullopt;
}

std::string text_field(const Record& record, std::initializer_list<const char*> names) {
  const std::optional<std::string> text = find_text(record, names);
  if (!text) fail_record(record, "needs " + quoted_names(names));
  if (text->empty()) fail_record(record, quoted_names(names) + " is empty");
  return *text;
}

}  // namespace vase::eval
