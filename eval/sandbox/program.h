// Grading programs: run on the tests of a problem, outputs compared. extract_answer() finds the program in a
// completion.
#pragma once

#include <string>
#include <string_view>

#include "eval/sandbox/code_tests.h"
#include "eval/sandbox/sandbox.h"

namespace vase::eval {

enum class ProgramVerdict { kRight, kWrongOutput, kFailed, kTimeout };

struct ProgramGrade {
  ProgramVerdict verdict = ProgramVerdict::kRight;
  int failed_test = -1;  // the first that does not pass, from 0; -1: none
  std::string reason;    // for people, one line: of a program that failed the end of what it wrote to standard error
};

// Runs the tests in order until one does not pass. As in LiveCodeBench the usual modules are imported before a program,
// and a result may be a tuple where a list is expected. A program that ends with another status than 0 has failed.
// Throws as Sandbox::run().
ProgramGrade grade_program(const Sandbox& sandbox, const std::string& program, const CodeTests& tests);

// Line by line, without the white space around the text and each line. Lines of numbers are equal when their numbers
// are
// ("1.0 2" and "1.00 2"), exactly, however many digits they have.
bool same_output(std::string_view given, std::string_view expected);

}  // namespace vase::eval
