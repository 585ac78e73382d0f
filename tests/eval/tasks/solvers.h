// Answers to the problems of the procedural tasks, found from their texts alone, as a patient reader would.
#pragma once

#include <string>
#include <vector>

namespace vase::eval {

struct Solved {
  std::string answer;
  std::vector<std::string> lines;  // that lead to it
};

// A step of `chain`: number, left, sign, right.
constexpr const char* kStep = "\nx(\\d+) = x(\\d+) ([+-]) x(\\d+)(?=\n)";

Solved solve_chain(const std::string& problem);
Solved solve_halves(const std::string& problem);
Solved solve_state(const std::string& problem);
Solved solve_graph(const std::string& problem);

// Every match of a regular expression's groups: [match][group], the whole match first.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& expression);

}  // namespace vase::eval
