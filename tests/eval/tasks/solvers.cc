#include "solvers.h"

#include <array>
#include <deque>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

namespace vase::eval {
namespace {

std::string the_match(const std::string& text, const std::string& expression) {
  const auto found = matches(text, expression);
  if (found.size() != 1) throw std::runtime_error(expression + " is there " + std::to_string(found.size()) + " times");
  return found[0][1];
}

// x[n] of x1 = ... and x2 = ..., with every step as {n, left, sign, right}.
Solved solve_steps(const std::string& problem, const std::vector<std::array<std::string, 4>>& steps) {
  std::map<std::string, long> x = {{"1", std::stol(the_match(problem, "x1 = (\\d+) and"))},
                                   {"2", std::stol(the_match(problem, "and x2 = (\\d+)\\."))}};
  Solved solved;
  for (const auto& [n, left, sign, right] : steps) {
    x[n] = sign == "+" ? x.at(left) + x.at(right) : x.at(left) - x.at(right);
    solved.lines.push_back("x" + n + " = x" + left + " " + sign + " x" + right + " = " + std::to_string(x.at(left)) +
                           " " + sign + " " + std::to_string(x.at(right)) + " = " + std::to_string(x[n]));
  }
  solved.answer = std::to_string(x.at(the_match(problem, "What is x(\\d+)\\?")));
  return solved;
}

}  // namespace

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& expression) {
  std::vector<std::vector<std::string>> all;
  const std::regex pattern(expression);
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    all.emplace_back(at->begin(), at->end());
  return all;
}

Solved solve_chain(const std::string& problem) {
  std::vector<std::array<std::string, 4>> steps;
  for (const auto& m : matches(problem, kStep)) steps.push_back({m[1], m[2], m[3], m[4]});
  return solve_steps(problem, steps);
}

Solved solve_halves(const std::string& problem) {
  std::vector<std::array<std::string, 4>> steps;
  for (int n = 3; n <= std::stoi(the_match(problem, "What is x(\\d+)\\?")); ++n) {
    steps.push_back({std::to_string(n), std::to_string(n - 1), "+", std::to_string(n / 2)});
  }
  return solve_steps(problem, steps);
}

Solved solve_state(const std::string& problem) {
  std::map<std::string, std::string> cards;
  const std::string start = the_match(problem, "one card: ([^.]*)\\.");
  for (const auto& m : matches(start, "([a-z]+) (\\d+)")) cards[m[1]] = m[2];
  Solved solved;
  for (const auto& m : matches(problem, "\n(\\d+)\\. ([a-z]+) and ([a-z]+)(?=\n)")) {
    const std::string before = m[2] + " " + cards.at(m[2]) + ", " + m[3] + " " + cards.at(m[3]);
    std::swap(cards.at(m[2]), cards.at(m[3]));
    solved.lines.push_back(m[1] + ". " + before + " -> " + m[2] + " " + cards[m[2]] + ", " + m[3] + " " + cards[m[3]]);
  }
  solved.answer = cards.at(the_match(problem, "in the ([a-z]+) box"));
  return solved;
}

Solved solve_graph(const std::string& problem) {
  std::map<int, std::vector<int>> neighbours;
  for (const auto& m : matches(problem, "\n(\\d+): ([\\d, ]+)(?=\n)")) {
    for (const auto& n : matches(m[2], "\\d+")) neighbours[std::stoi(m[1])].push_back(std::stoi(n[0]));
  }
  const int start = std::stoi(the_match(problem, "breadth-first from node (\\d+)"));
  const int target = std::stoi(the_match(problem, "until node (\\d+) is found"));
  std::map<int, int> found_by = {{start, 0}};
  Solved solved;
  for (std::deque<int> waiting = {start}; !found_by.contains(target); waiting.pop_front()) {
    std::string fresh;
    for (int other : neighbours.at(waiting.front())) {
      if (!found_by.emplace(other, waiting.front()).second) continue;
      waiting.push_back(other);
      fresh += (fresh.empty() ? "" : ", ") + std::to_string(other);
    }
    solved.lines.push_back("Take " + std::to_string(waiting.front()) + ": new " + (fresh.empty() ? "none" : fresh));
  }
  int sum = target;
  for (int node = target; node != start; node = found_by.at(node)) {
    const int from = found_by.at(node);
    solved.lines.push_back("Back: " + std::to_string(node) + " comes from " + std::to_string(from) + ", " +
                           std::to_string(sum) + " + " + std::to_string(from) + " = " + std::to_string(sum + from));
    sum += from;
  }
  solved.answer = std::to_string(sum);
  return solved;
}

}  // namespace vase::eval
