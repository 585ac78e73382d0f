// Problems that are made up: their difficulty and length are set, and the answer needs facts from far back in the text
// that the model has generated itself, so that what a cache forgets shows in the answer, on small models too.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "eval/random.h"
#include "eval/tasks/task.h"

namespace vase::eval {

// A whole number that may stand in a spec.
struct Setting {
  const char* name;
  int fallback, low, high;  // default; smallest and largest value
  const char* summary;
};

using Settings = std::map<std::string, int>;  // a value for every setting of the procedure

struct Procedure {
  const char* name;
  const char* summary;
  std::span<const Setting> settings;
  // Fills problem, answer and worked. The settings are in their ranges.
  Problem (*make)(const Settings& settings, Random& random);
};

// One file each: chain.cc, halves.cc, state.cc, graph.cc.
extern const Procedure kChain, kHalves, kState, kGraph;

// What follows every problem: a small model must be told to write the steps out, or it guesses or writes a program.
constexpr const char* kProcedureInstruction =
    "\nWrite down the whole list in exactly this form, a line for every step, without other text between the lines and "
    "without "
    "a program. After its last line put the final answer within \\boxed{}.";

std::span<const Procedure* const> procedures();
const Procedure* find_procedure(std::string_view name);  // null when there is none

// "steps=40 (2 to 2000), digits=2 (1 to 6)"
std::string settings_text(const Procedure& procedure);
// "name" or "name:key=value,...". Throws Error(kUsage) for a setting that is unknown, given twice or out of its range.
Settings parse_settings(const Procedure& procedure, const std::string& spec);
// "name:key=value,..." with every setting, in their order.
std::string canonical_spec(const Procedure& procedure, const Settings& settings);
// Problem `index` (from 0) of a seed: its id is "s<seed>-<index>".
Problem make_problem(const Procedure& procedure, const Settings& settings, uint64_t seed, int index);

// The end of a problem: the first two lines of what is to be written, so that a model sees their form.
std::string list_begin(std::string_view lines);
// "\n\nThe answer is \\boxed{...}.": how a worked text ends.
std::string worked_end(const std::string& answer);

}  // namespace vase::eval
