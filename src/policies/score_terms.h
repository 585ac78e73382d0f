// The terms of a score in a policy's text: "0.5*attention-0.5*redundancy", "attention*value".
#pragma once

#include <vector>

#include "policies/words.h"

namespace vase {

struct ScoreTerm {
  double weight = 1;
  std::vector<Word> factors;  // texts of parts
};

// A '*' always separates; a '+' or '-' only before a number and a '*', so that names and files may hold them. Throws
// Error(kUsage) for a factor without text and for a weight that is not finite.
std::vector<ScoreTerm> split_terms(Word score);

}  // namespace vase
