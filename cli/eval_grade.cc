// `vase eval grade`: what a grader says of given answers.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "commands.h"
#include "eval/json_text.h"
#include "eval/no_verdict.h"
#include "eval/printable.h"
#include "eval/require_read.h"
#include "eval/run/grade.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using eval::AnswerKind;
using nlohmann::json;

struct GradeFlags {
  std::string pairs;
  AnswerKind kind = AnswerKind::kMath;
  eval::GraderOptions grader;
  bool json = false;
};

struct Pair {
  std::optional<std::string> given;  // absent: there is no answer, or none in the completion
  eval::Problem problem;             // its answer is the expected one
};

void add_flags(CLI::App& app, GradeFlags& o) {
  add_path(app, "--pairs", o.pairs,
           "JSON lines with \"given\" (an answer, null for none) or \"completion\" (a text with one) and \"expected\"");
  app.get_option("--pairs")->required();
  add_choice<AnswerKind>(app, "--kind", o.kind, {{"math", AnswerKind::kMath}, {"choice", AnswerKind::kChoice}},
                         "answers in LaTeX or plain notation, or letters A to J (math)");
  add_choice<bool>(app, "--grader", o.grader.math_verify, {{"own", false}, {"math-verify", true}},
                   "who compares: this program, or the Python package math-verify (own)");
  add_path(app, "--python", o.grader.package.python, "an interpreter that has the package (python3)");
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
  pair.problem.answer = text_of(object, "expected", where);
  pair.problem.where = where;
  if (object.contains("completion") && object.contains("given"))
    throw Error(ErrorCode::kCorrupt, where + ": has \"given\" and \"completion\"; give one of them");
  if (object.contains("completion"))
    pair.given = eval::extract_answer(text_of(object, "completion", where), kind);
  else if (object.value("given", json()) != nullptr || !object.contains("given"))
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
  eval::require_read(in, o.pairs);
  if (pairs.empty()) throw Error(ErrorCode::kCorrupt, o.pairs + " holds no pairs");
  return pairs;
}

// What the grader says of a pair. Names those that it cannot judge on standard error.
class Judge {
 public:
  explicit Judge(const GradeFlags& o) : kind_(o.kind), grader_(o.grader) {}

  // Empty where the grader cannot tell.
  std::optional<bool> same(const Pair& pair) {
    try {
      const eval::Comparison found = pair.given ? grader_.compare(*pair.given, pair.problem, kind_)
                                                : eval::Comparison{false, grader_.reads(pair.problem, kind_)};
      if (!found.read) warn(pair, unreadable(pair.problem.answer));
      return found.same;
    } catch (const eval::NoVerdict& e) {
      warn(pair, e.what());
      if (!pair.given) return false;  // whatever the expected answer is
      return std::nullopt;
    }
  }

 private:
  std::string unreadable(const std::string& answer) const {
    return "the grader " + grader_.name() + " cannot read the expected answer " + vase::quoted(answer) +
           ", so that any other text than this counts as different";
  }
  static void warn(const Pair& pair, const std::string& what) {
    std::fprintf(stderr, "vase: warning: %s: %s\n", pair.problem.where.c_str(), eval::printable(what).c_str());
  }

  AnswerKind kind_;
  eval::Grader grader_;
};

json pair_json(const Pair& pair, std::optional<bool> same) {
  json object = {{"given", nullptr}, {"expected", pair.problem.answer}, {"same", nullptr}};
  if (pair.given) object["given"] = *pair.given;
  if (same) object["same"] = *same;
  return object;
}

std::string difference_line(const Pair& pair, std::optional<bool> same) {
  const std::string given = pair.given ? vase::quoted(*pair.given) : "no answer";
  return (same ? "different: " : "no verdict: ") + given +
         ", expected: " + vase::quoted(pair.problem.answer) + "\n";
}

int grade(const GradeFlags& o) {
  const std::vector<Pair> pairs = read_pairs(o);
  Judge judge(o);
  size_t right = 0, open = 0;
  for (const Pair& pair : pairs) {
    const std::optional<bool> same = judge.same(pair);
    right += same == true;
    open += !same;
    if (o.json)
      print_json(pair_json(pair, same));
    else if (same != true)
      write_output(difference_line(pair, same));
  }
  if (!o.json) write_output(formatted("%zu of %zu are the same\n", right, pairs.size()));
  return open > 0 ? kExitFailure : kExitOk;
}

}  // namespace

int eval_grade_command(const Arguments& arguments) {
  GradeFlags o;
  CLI::App app("Compares answers with expected ones, as `vase eval run` does.", "eval grade");
  add_flags(app, o);
  if (!parse(app, arguments)) return kExitOk;
  if (o.grader.math_verify && o.kind == AnswerKind::kChoice) {
    throw Error(ErrorCode::kUsage, "--grader math-verify compares formulas; leave it out with --kind choice");
  }
  return grade(o);
}

}  // namespace vase::cli
