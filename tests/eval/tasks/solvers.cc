#include "solvers.h"

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

// "of 104 keep 4": what the sum is reduced by.
int modulus(const std::string& problem) {
  return problem.find("only the last digit") != std::string::npos
             ? 10
             : std::stoi(the_match(problem, "of (1\\d+4) keep 4")) - 4;
}

std::map<int, int> start_values(const std::string& problem) {
  return {{1, std::stoi(the_match(problem, "x1 = (\\d+) and"))},
          {2, std::stoi(the_match(problem, "and x2 = (\\d+)\\."))}};
}

std::string sum_line(int n, int other, int a, int b, int kept) {
  return "x" + std::to_string(n) + " = x" + std::to_string(n - 1) + " + x" + std::to_string(other) + " = " +
         std::to_string(a) + " + " + std::to_string(b) + " = " + std::to_string(a + b) + ", keep " +
         std::to_string(kept);
}

Solved solve_sums(const std::string& problem, const std::map<int, int>& others) {
  std::map<int, int> x = start_values(problem);
  Solved solved;
  for (const auto& [n, other] : others) {
    x[n] = (x.at(n - 1) + x.at(other)) % modulus(problem);
    solved.lines.push_back(sum_line(n, other, x.at(n - 1), x.at(other), x[n]));
  }
  solved.answer = std::to_string(x.at(std::stoi(the_match(problem, "What is x(\\d+)\\?"))));
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
  std::map<int, int> others;
  for (const auto& m : matches(problem, "\nx(\\d+) = x(\\d+) \\+ x(\\d+)(?=\n)")) {
    if (std::stoi(m[2]) != std::stoi(m[1]) - 1) throw std::runtime_error("a step that does not follow the one before");
    others[std::stoi(m[1])] = std::stoi(m[3]);
  }
  return solve_sums(problem, others);
}

Solved solve_halves(const std::string& problem) {
  std::map<int, int> others;
  for (int n = 3; n <= std::stoi(the_match(problem, "What is x(\\d+)\\?")); ++n) others[n] = n / 2;
  return solve_sums(problem, others);
}

Solved solve_state(const std::string& problem) {
  std::map<std::string, std::string> cards;
  const std::string start = the_match(problem, "one card: ([^.]*)\\.");
  for (const auto& m : matches(start, "([a-z]+) (\\d+)")) cards[m[1]] = m[2];
  Solved solved;
  for (const auto& m : matches(problem, "\n(\\d+)\\. ([a-z]+) and ([a-z]+)(?=\n)")) {
    std::swap(cards.at(m[2]), cards.at(m[3]));
    solved.lines.push_back(m[1] + ". " + m[2] + " " + cards[m[2]] + ", " + m[3] + " " + cards[m[3]]);
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
