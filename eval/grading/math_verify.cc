#include "eval/grading/math_verify.h"

#include <nlohmann/json.hpp>

#include "eval/beginning_of.h"
#include "eval/grading/math_verify_program.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using grading::ChildProcess;
using nlohmann::json;

constexpr const char* kAdvice =
    "install the package (pip install 'math-verify[antlr4_13_2]') for the interpreter that --python or PATH names";

constexpr int kAttempts = 2;  // a busy machine may be late once

std::string question_of(std::string_view given, std::string_view expected, bool read) {
  return json{{"given", given}, {"expected", expected}, {"read", read}}.dump(-1, ' ', true,
                                                                             json::error_handler_t::replace);
}

// Empty unless the object holds a text under the key.
std::string text_of(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

}  // namespace

MathVerify::MathVerify(const MathVerifyOptions& options) : options_(options) { start(); }

MathVerify::~MathVerify() = default;

void MathVerify::start() {
  try {
    const std::vector<std::string> command = {options_.python, "-u", "-c", std::string(kMathVerifyProgram)};
    child_ = std::make_unique<ChildProcess>(command);
  } catch (const Error& e) {
    throw Error(e.code(), std::string("grading with math-verify: ") + e.what() + "; " + kAdvice);
  }
  std::string line;
  const ChildProcess::Outcome outcome = child_->read_line(options_.start_seconds, line);
  const json greeting = json::parse(line, nullptr, false);
  if (outcome == ChildProcess::Outcome::kLate) {
    const std::string seconds = std::to_string(static_cast<int>(options_.start_seconds));
    throw Error(ErrorCode::kResource,
                options_.python + " did not load math-verify in " + seconds + " s; try again on a free machine");
  }
  version_ = text_of(greeting, "version");
  if (outcome == ChildProcess::Outcome::kDone && !version_.empty()) return;
  const std::string reason = text_of(greeting, "error");
  throw Error(ErrorCode::kNotFound, options_.python + " cannot load math-verify" +
                                        (reason.empty() ? "" : " (" + reason + ")") + "; " + kAdvice);
}

// What it said; nothing where a part of the answer is missing. It has to say whether it reads the expected one where it was
// asked, unless the two are the same.
std::optional<Comparison> MathVerify::ask(const std::string& question, bool read) {
  if (!child_) start();
  std::string answer;
  if (child_->ask(question, options_.seconds, answer) == ChildProcess::Outcome::kDone) {
    const json object = json::parse(answer, nullptr, false);
    const auto said = [&](const char* field) { return object.contains(field) && object[field].is_boolean(); };
    if (object.is_object() && said("same") && (!read || object["same"] || said("read")))
      return Comparison{.same = object["same"], .read = !said("read") || object["read"]};
  }
  child_.reset();
  return std::nullopt;
}

bool MathVerify::same(std::string_view given, std::string_view expected) { return judge(given, expected, false).same; }

Comparison MathVerify::compare(std::string_view given, std::string_view expected) {
  return judge(given, expected, true);
}

Comparison MathVerify::judge(std::string_view given, std::string_view expected, bool read) {
  const std::string question = question_of(given, expected, read);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (const std::optional<Comparison> verdict = ask(question, read)) return *verdict;
  }
  throw NoVerdict(ErrorCode::kResource, "math-verify took too long for the answer '" + beginning_of(given) +
                                            "' or ended at it, " + std::to_string(kAttempts) +
                                            " times in a row");
}

}  // namespace vase::eval
