// `vase eval grade`: what a grader says of given answers.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "commands.h"
#include "eval/grading/answer.h"
#include "eval/grading/math_verify.h"
#include "eval/json_text.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using eval::AnswerKind;
using nlohmann::json;

enum class GraderName { kOwn, kMathVerify };

struct GradeFlags {
  std::string pairs;
  AnswerKind kind = AnswerKind::kMath;
  GraderName grader = GraderName::kOwn;
  eval::MathVerifyOptions math_verify;
  bool json = false;
};

struct Pair {
  std::optional<std::string> given;  // absent: a completion without an answer
  std::string expected;
};

void add_flags(CLI::App& app, GradeFlags& o) {
  add_path(app, "--pairs", o.pairs,
           "JSON lines with \"given\" (an answer) or \"completion\" (a text with one) and \"expected\"");
  app.get_option("--pairs")->required();
  add_choice<AnswerKind>(app, "--kind", o.kind, {{"math", AnswerKind::kMath}, {"choice", AnswerKind::kChoice}},
                         "answers in LaTeX or plain notation, or letters A to J (math)");
  add_choice<GraderName>(app, "--grader", o.grader,
                         {{"own", GraderName::kOwn}, {"math-verify", GraderName::kMathVerify}},
                         "who compares: this program, or the Python package math-verify (own)");
  add_path(app, "--python", o.math_verify.python, "an interpreter that has the package (python3)");
  app.add_flag("--json", o.json, "print a JSON line per pair instead of those that differ");
}

std::string text_of(const json& object, const char* key, const std::string& where) {
  if (object.contains(key) && object[key].is_string()) return object[key];
  throw Error(ErrorCode::kCorrupt, where + ": \"" + key + "\" must be a text");
}

Pair parse_pair(const std::string& line, AnswerKind kind, const std::string& where) {
  const json object = eval::parse_json(line);
  if (!object.is_object()) throw Error(ErrorCode::kCorrupt, where + ": not a JSON object; write one per line");
  Pair pair;
  pair.expected = text_of(object, "expected", where);
  if (object.contains("completion"))
    pair.given = eval::extract_answer(text_of(object, "completion", where), kind);
  else
    pair.given = text_of(object, "given", where);
  return pair;
}

std::vector<Pair> read_pairs(const GradeFlags& o) {
  std::ifstream in(o.pairs, std::ios::binary);
  if (!in || std::filesystem::is_directory(o.pairs)) {
    throw Error(ErrorCode::kNotFound, "cannot read " + o.pairs + "; give a file with JSON lines");
  }
  std::vector<Pair> pairs;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    pairs.push_back(parse_pair(line, o.kind, o.pairs + ":" + std::to_string(number)));
  }
  if (pairs.empty()) throw Error(ErrorCode::kCorrupt, o.pairs + " holds no pairs");
  return pairs;
}

class Judge {
 public:
  explicit Judge(const GradeFlags& o) : kind_(o.kind) {
    if (o.grader == GraderName::kMathVerify) math_verify_ = std::make_unique<eval::MathVerify>(o.math_verify);
  }

  bool same(const Pair& pair) {
    if (!pair.given) return false;
    return math_verify_ ? math_verify_->same(*pair.given, pair.expected)
                        : eval::same_answer(*pair.given, pair.expected, kind_);
  }

  // Of math-verify: pairs that took too long.
  int64_t failures() const { return math_verify_ ? math_verify_->failures() : 0; }

 private:
  AnswerKind kind_;
  std::unique_ptr<eval::MathVerify> math_verify_;
};

json pair_json(const Pair& pair, bool same) {
  json object = {{"given", nullptr}, {"expected", pair.expected}, {"same", same}};
  if (pair.given) object["given"] = *pair.given;
  return object;
}

std::string difference_line(const Pair& pair) {
  const std::string given = pair.given ? vase::quoted(*pair.given) : "no answer";
  return "different: " + given + ", expected: " + vase::quoted(pair.expected) + "\n";
}

int grade(const GradeFlags& o) {
  const std::vector<Pair> pairs = read_pairs(o);
  Judge judge(o);
  size_t right = 0;
  for (const Pair& pair : pairs) {
    const bool same = judge.same(pair);
    right += same;
    if (o.json)
      print_json(pair_json(pair, same));
    else if (!same)
      write_output(difference_line(pair));
  }
  if (o.json) return kExitOk;
  write_output(formatted("%zu of %zu are the same\n", right, pairs.size()));
  if (judge.failures() > 0) {
    write_output(
        formatted("%lld took math-verify too long and count as different\n", static_cast<long long>(judge.failures())));
  }
  return kExitOk;
}

}  // namespace

int eval_grade_command(const Arguments& arguments) {
  GradeFlags o;
  CLI::App app("Compares answers with expected ones, as `vase eval run` does.", "eval grade");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  if (o.grader == GraderName::kMathVerify && o.kind == AnswerKind::kChoice) {
    throw Error(ErrorCode::kUsage, "--grader math-verify compares formulas; leave it out with --kind choice");
  }
  return grade(o);
}

}  // namespace vase::cli
