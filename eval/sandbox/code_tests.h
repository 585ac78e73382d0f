// The tests of a problem whose answer is a program.
#pragma once

#include <string>
#include <vector>

namespace vase::eval {

struct CodeTest {
  std::string input;   // standard input; of a function the arguments, each as JSON on a line of its own
  std::string output;  // expected on standard output; of a function the result as JSON
};

struct CodeTests {
  std::string
      function;  // the function, or method of a class Solution, that is called; empty: the program reads its input
  std::vector<CodeTest> tests;
};

// Reads Problem::tests: {"function": NAME or "", "public": TESTS, "private": TESTS or ""}, where TESTS is a text: a
// JSON list of {"input", "output", "testtype"}, or that list packed (eval/sandbox/packed_text.h). Public tests come
// first. Throws Error(kCorrupt): what is not of this form, and no tests at all.
CodeTests parse_code_tests(const std::string& text);

}  // namespace vase::eval
