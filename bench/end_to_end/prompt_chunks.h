// The prompts of all sequences, cut into the batches that go through the model.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace vase::bench {

struct PromptPart {
  int sequence = 0;
  int tokens = 0;
  bool last = false;  // ends the prompt: its logits are wanted
};

class PromptChunks {
 public:
  PromptChunks(int sequences, int tokens) : left_(sequences, tokens) {}

  bool done() const { return finished_ == static_cast<int>(left_.size()); }
  int finished() const { return finished_; }  // sequences whose prompt has been handed out

  // The next batch of at most `chunk` tokens, in order of the sequences, a part of each at most.
  // fit(sequence, tokens): how many of the tokens a part may take, at least 1.
  template <typename Fit>
  std::span<const PromptPart> next(int chunk, Fit fit) {
    parts_.clear();
    for (int s = finished_; s < static_cast<int>(left_.size()) && chunk > 0; ++s) {
      if (left_[s] == 0) continue;
      const int tokens = fit(s, std::min(left_[s], chunk));
      left_[s] -= tokens;
      chunk -= tokens;
      parts_.push_back({s, tokens, left_[s] == 0});
    }
    while (!done() && left_[finished_] == 0) ++finished_;
    return parts_;
  }

 private:
  std::vector<int> left_;
  std::vector<PromptPart> parts_;
  int finished_ = 0;  // the first so many have nothing left
};

}  // namespace vase::bench
