#include "eval/sandbox/code_tests.h"

#include <nlohmann/json.hpp>

#include "eval/json_text.h"
#include "eval/sandbox/packed_text.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::kCorrupt, "tests: " + what); }

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) fail(std::string("\"") + key + "\" must be a text");
  return *found;
}

CodeTest parse_test(const json& object, bool function) {
  if (!object.is_object()) fail("a test must be a JSON object");
  const std::string type = text_of(object, "testtype");
  if (type != (function ? "functional" : "stdin")) {
    fail("\"testtype\" is \"" + type +
         "\"; expected \"stdin\", or \"functional\" with a \"func_name\" in \"metadata\"");
  }
  return {text_of(object, "input"), text_of(object, "output")};
}

void add_tests(const std::string& text, CodeTests& tests) {
  if (text.empty()) return;
  json list = parse_json(text);
  if (list.is_discarded()) list = parse_json(unpack_text(text));
  if (!list.is_array()) fail("not a JSON list");
  for (const json& object : list) tests.tests.push_back(parse_test(object, !tests.function.empty()));
}

}  // namespace

CodeTests parse_code_tests(const std::string& text) {
  const json object = parse_json(text);
  if (!object.is_object()) fail("not a JSON object");
  CodeTests tests;
  tests.function = text_of(object, "function");
  add_tests(text_of(object, "public"), tests);
  add_tests(text_of(object, "private"), tests);
  if (tests.tests.empty()) fail("there are none");
  return tests;
}

}  // namespace vase::eval
