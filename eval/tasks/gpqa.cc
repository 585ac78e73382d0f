#include <array>
#include <utility>

#include "eval/random.h"
#include "eval/tasks/readers.h"

namespace vase::eval {
namespace {

constexpr size_t kChoices = 4;

// Where each choice goes: Fisher-Yates with a seed that only the record decides, so that every run asks the same.
std::array<size_t, kChoices> order_for(const std::string& id) {
  std::array<size_t, kChoices> order = {0, 1, 2, 3};
  Random random(seed_from(id));
  for (size_t i = kChoices - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

Problem read_lettered(const Record& record) {
  Problem problem = read_plain(record);
  if (problem.answer.size() != 1 || problem.answer[0] < 'A' || problem.answer[0] > 'J') {
    fail_record(record, "\"answer\" must be one letter from A to J");
  }
  return problem;
}

}  // namespace

Problem read_gpqa(const Record& record) {
  if (record.fields.contains("problem")) return read_lettered(record);
  const std::array<std::string, kChoices> choices = {
      text_field(record, {"Correct Answer"}), text_field(record, {"Incorrect Answer 1"}),
      text_field(record, {"Incorrect Answer 2"}), text_field(record, {"Incorrect Answer 3"})};
  Problem problem = {text_field(record, {"Record ID"}), text_field(record, {"Question"}) + "\n", {}, {}, {}};
  const std::array<size_t, kChoices> order = order_for(problem.id);
  for (size_t place = 0; place < kChoices; ++place) {
    const char letter = static_cast<char>('A' + place);
    problem.problem += std::string("\n") + letter + ") " + choices[order[place]];
    if (order[place] == 0) problem.answer = letter;
  }
  return problem;
}

}  // namespace vase::eval
