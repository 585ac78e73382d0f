// Grading by the Python package math-verify, in a child process that is started once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "eval/grading/child_process.h"
#include "eval/no_verdict.h"

namespace vase::eval {

struct MathVerifyOptions {
  std::string python = "python3";  // an interpreter that has the package; looked for in PATH
  double start_seconds = 120;  // most time that it may take to start: importing takes seconds, minutes on a busy disk
  double seconds = 30;         // most time for one pair
};

struct Comparison {
  bool same;
  bool read;  // the grader understands the expected answer: it could tell whether another is the same; true unless asked
};

class MathVerify {
 public:
  // Throws Error: kNotFound when the interpreter or the package is missing, with how to get it; kResource when it does
  // not start in time.
  explicit MathVerify(const MathVerifyOptions& options = {});
  ~MathVerify();

  const std::string& version() const { return version_; }  // of the package

  // Whether the package takes the two answers for the same; both as extract_answer() gives them. Where that takes too
  // long or ends the interpreter, it is started anew and asked once more. Throws NoVerdict when that fails as well, and
  // Error as the constructor when it cannot be started anew.
  bool same(std::string_view given, std::string_view expected);
  // With one question, also whether it reads the expected one.
  Comparison compare(std::string_view given, std::string_view expected);

 private:
  void start();
  Comparison judge(std::string_view given, std::string_view expected, bool read);
  std::optional<Comparison> ask(const std::string& question, bool read);

  MathVerifyOptions options_;
  std::unique_ptr<grading::ChildProcess> child_;
  std::string version_;
};

}  // namespace vase::eval
