// One timed piece of work: of our rig or of the peer, which offer the same three calls.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "end_to_end/case.h"

namespace vase::bench {

// Thrown out of a piece when it shall stop.
struct Stopped {};

using Stop = std::function<bool()>;

struct Piece {
  // Seconds since the piece began: of generation after every step, of prompts when each sequence's first
  // token can be drawn.
  std::vector<double> marks;
  double seconds() const { return marks.back(); }
};

template <typename Timed>
Piece time_piece(Timed& timed, const Test& test, const Stop& stop) {
  timed.start();
  Piece piece;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto heed = [&] {
    if (stop()) throw Stopped();
  };
  heed();
  if (test.prompt) {
    timed.read_prompts(test.tokens, [&](int finished) {
      piece.marks.resize(finished, elapsed());
      heed();
    });
    return piece;
  }
  for (int i = 0; i < test.tokens; ++i) {
    timed.step();
    piece.marks.push_back(elapsed());
    heed();
  }
  return piece;
}

}  // namespace vase::bench
