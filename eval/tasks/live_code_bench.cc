#include "eval/json_text.h"
#include "eval/sandbox/code_tests.h"
#include "eval/tasks/readers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr const char* kReadsInput =
    "Write a Python program that solves this. It reads the input from standard input and writes the answer to standard "
    "output. "
    "Give the whole program in one block:\n```python\n# your program\n```";
constexpr const char* kFillsIn =
    "Solve this in Python by completing the code below. Give the whole code in one block:\n```python\n";

// The name of the method that is called, out of the text of "metadata"; empty when the program reads standard input.
std::string function_name(const Record& record) {
  const std::optional<std::string> text = find_text(record, {"metadata"});
  if (!text || text->empty()) return {};
  const json metadata = parse_json(*text);
  if (!metadata.is_object()) fail_record(record, "\"metadata\" is not a JSON object in a text");
  const auto name = metadata.find("func_name");
  if (name == metadata.end() || name->is_null()) return {};
  if (!name->is_string()) fail_record(record, "\"func_name\" of \"metadata\" must be a text");
  return *name;
}

std::string packed_tests(const Record& record) {
  std::string tests = json{{"function", function_name(record)},
                           {"public", text_field(record, {"public_test_cases"})},
                           {"private", find_text(record, {"private_test_cases"}).value_or("")}}
                          .dump();
  try {
    parse_code_tests(tests);
  } catch (const Error& e) {
    fail_record(record, e.what());
  }
  return tests;
}

std::string asked(const Record& record) {
  const std::string question = text_field(record, {"question_content"});
  const std::string starter = find_text(record, {"starter_code"}).value_or("");
  return question + "\n\n" + (starter.empty() ? kReadsInput : kFillsIn + starter + "\n```");
}

}  // namespace

Problem read_live_code_bench(const Record& record) {
  return {text_field(record, {"question_id"}), asked(record), {}, packed_tests(record), {}};
}

std::optional<Problem> read_live_code_bench_medium(const Record& record) {
  if (text_field(record, {"difficulty"}) != "medium") return std::nullopt;
  return read_live_code_bench(record);
}

}  // namespace vase::eval
