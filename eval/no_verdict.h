// What graders throw that may judge the next answer all the same.
#pragma once

#include "vase/error.h"

namespace vase::eval {

// A grader cannot say whether an answer is right, and another one may be judged well.
class NoVerdict : public Error {
 public:
  using Error::Error;
};

}  // namespace vase::eval
