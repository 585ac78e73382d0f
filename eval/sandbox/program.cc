#include "eval/sandbox/program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "eval/json_text.h"
#include "eval/sandbox/drivers.h"
#include "eval/sandbox/same_number.h"
#include "eval/stripped.h"

namespace vase::eval {
namespace {

using nlohmann::json;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t from = line.find_first_not_of(kBlanks); from != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, from), line.size());
    words.push_back(line.substr(from, end - from));
    from = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool same_line(std::string_view given, std::string_view expected) {
  if (given == expected) return true;
  const std::vector<std::string_view> a = words_of(given), b = words_of(expected);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_number(a[i], b[i])) return false;
  }
  return !a.empty();
}

// Standard output of the driver that calls a function.
bool same_result(const std::string& given, const std::string& expected) {
  const json result = parse_json(given), right = parse_json(expected);
  return !result.is_discarded() && result == right;
}

std::vector<ProgramFile> files_for(const std::string& program, const CodeTests& tests) {
  const bool function = !tests.function.empty();
  std::vector<ProgramFile> files = {{"run.py", std::string(kPrelude) + (function ? kCallFunction : kRunProgram)},
                                    {"program.py", program}};
  if (function) files.push_back({"name.txt", tests.function});
  return files;
}

std::string last_line(const std::string& text) { return std::string(lines_of(stripped(text)).back()); }

ProgramGrade grade_run(const ProgramRun& run, const CodeTest& test, bool function) {
  if (run.end == RunEnd::kTimeout) return {ProgramVerdict::kTimeout, 0, "ran out of time"};
  if (run.end == RunEnd::kKilled) return {ProgramVerdict::kFailed, 0, "killed by signal " + std::to_string(run.code)};
  if (run.code != 0) return {ProgramVerdict::kFailed, 0, last_line(run.errors)};
  const bool right = function ? same_result(run.output, test.output) : same_output(run.output, test.output);
  if (!right) return {ProgramVerdict::kWrongOutput, 0, "the output differs from what is expected"};
  return {};
}

}  // namespace

ProgramGrade grade_program(const Sandbox& sandbox, const std::string& program, const CodeTests& tests) {
  const std::vector<ProgramFile> files = files_for(program, tests);
  for (size_t i = 0; i < tests.tests.size(); ++i) {
    ProgramGrade grade = grade_run(sandbox.run(files, tests.tests[i].input), tests.tests[i], !tests.function.empty());
    if (grade.verdict == ProgramVerdict::kRight) continue;
    grade.failed_test = static_cast<int>(i);
    return grade;
  }
  return {};
}

bool same_output(std::string_view given, std::string_view expected) {
  const std::vector<std::string_view> a = lines_of(stripped(given)), b = lines_of(stripped(expected));
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_line(stripped(a[i]), stripped(b[i]))) return false;
  }
  return true;
}

}  // namespace vase::eval
