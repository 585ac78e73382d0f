// state: boxes exchange their cards, and only what changed is written down. Of a box that was left alone for long, the
// card stands far back in the generated text, among many that it held before.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "eval/tasks/procedures.h"

namespace vase::eval {
namespace {

constexpr std::array<const char*, 20> kNames = {"red",  "blue", "green",  "yellow", "black", "white",  "brown",
                                                "pink", "gray", "orange", "purple", "gold",  "silver", "olive",
                                                "navy", "lime", "cream",  "rose",   "amber", "coral"};

constexpr Setting kSettings[] = {
    {"boxes", 10, 3, static_cast<int>(kNames.size()), "boxes with a card each"},
    {"steps", 40, 1, 2000, "exchanges"},
};

struct Boxes {
  std::vector<int> cards;
  std::vector<int> changed;  // the exchange that last changed a box, from 1; 0: none

  std::string text(int box) const { return std::string(kNames[box]) + " " + std::to_string(cards[box]); }
};

Boxes fill(int count, Random& random) {
  std::vector<int> numbers;
  for (int number = 10; number < 100; ++number) numbers.push_back(number);
  Boxes boxes;
  for (int i = 0; i < count; ++i) {
    std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
    boxes.cards.push_back(numbers[i]);
  }
  boxes.changed.assign(count, 0);
  return boxes;
}

// One of those that were left alone for longest, so that cards are looked up far back; and any other.
std::pair<int, int> choose_two(const Boxes& boxes, Random& random) {
  const int count = static_cast<int>(boxes.cards.size());
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](int box) { return std::pair(boxes.changed[box], box); });
  const size_t first = random.below((count + 1) / 2);
  size_t second = random.below(count - 1);
  if (second >= first) ++second;
  return {order[first], order[second]};
}

// The box that has changed, but the longest ago.
int box_to_ask(const Boxes& boxes) {
  int asked = -1;
  for (int box = 0; box < static_cast<int>(boxes.changed.size()); ++box) {
    const int when = boxes.changed[box];
    if (when > 0 && (asked < 0 || when < boxes.changed[asked])) asked = box;
  }
  return asked;
}

Problem make(const Settings& settings, Random& random) {
  const int steps = settings.at("steps");
  Boxes boxes = fill(settings.at("boxes"), random);
  std::string start, exchanges, lines;
  for (int box = 0; box < settings.at("boxes"); ++box) start += (box == 0 ? "" : ", ") + boxes.text(box);
  for (int step = 1; step <= steps; ++step) {
    const auto [a, b] = choose_two(boxes, random);
    const std::string number = std::to_string(step) + ". ", before = boxes.text(a) + ", " + boxes.text(b);
    std::swap(boxes.cards[a], boxes.cards[b]);
    boxes.changed[a] = boxes.changed[b] = step;
    exchanges += "\n" + number + kNames[a] + " and " + kNames[b];
    lines += (step == 1 ? "" : "\n") + number + before + " -> " + boxes.text(a) + ", " + boxes.text(b);
  }
  const int asked = box_to_ask(boxes);
  Problem problem;
  problem.answer = std::to_string(boxes.cards[asked]);
  problem.problem =
      "Every box holds one card: " + start + ". Then two boxes at a time exchange their cards:" + exchanges +
      "\nWrite for every exchange which cards its two boxes hold before and after it. Which card is in the " +
      kNames[asked] + " box in the end?" + list_begin(lines);
  problem.worked = lines + worked_end(problem.answer);
  return problem;
}

}  // namespace

const Procedure kState = {"state", "cards that change their boxes; what a box holds was written many lines ago",
                          kSettings, make};

}  // namespace vase::eval
