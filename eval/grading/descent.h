// How deep the parser is; an answer nested deeper than any that means something is unreadable.
#pragma once

#include "eval/grading/parser.h"

namespace vase::eval::grading {

class Parser::Descent {
 public:
  explicit Descent(int& depth) : depth_(depth) {
    if (depth >= kDeepest) throw Unreadable{};
    ++depth_;
  }
  ~Descent() { --depth_; }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

 private:
  static constexpr int kDeepest = 64;
  int& depth_;
};

}  // namespace vase::eval::grading
