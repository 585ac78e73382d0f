// seer - blocks ranked by a small trained gate (SeerAttention-R, arXiv 2506.08889; docs/policies.md 4.16).
// Out of keys and queries before RoPE, per layer and KV head, with gate matrices Wk and Wq and gate width w:
//   block key    k~_b = RoPE(Wk [max; min; mean over the block's keys]) at the block's first position
//   query        q~   = RoPE(Wq [the group's queries]) at the token's position
//   score_b      = softmax over blocks (q~ . k~_b / sqrt w); a block that is not full has a zero key
// Reads the top M / block blocks and the last one, or every block whose score exceeds a threshold.
//   gates      file with the weights; must be given
//   block      tokens per block; the file's when absent
//   threshold  0 to 1; the budget decides when absent
#pragma once

#include <optional>

#include "policies/part_options.h"
#include "policies/read/seer_gates.h"
#include "vase/reader.h"

namespace vase {

class SeerAttention final : public Reader {
 public:
  // path: for text() and messages.
  SeerAttention(SeerGates gates, std::string path, int block, std::optional<double> threshold)
      : gates_(std::move(gates)), path_(std::move(path)), block_(block), threshold_(threshold) {}
  static std::shared_ptr<const Reader> parse(PartOptions& options);

  int block() const override { return block_; }
  bool needs_rope() const override { return true; }
  int summary_floats(const ModelHeads&) const override { return gates_.width; }
  size_t scratch_floats(const ModelHeads& heads, int tokens) const override;
  void update(const BlockView& block, std::span<float> summary) const override;
  void score(const ReadView& view, std::span<float> out) const override;
  ReadChoice choice(int budget) const override;
  void check(const ModelHeads& heads) const override;
  std::string text() const override;

 private:
  SeerGates gates_;
  std::string path_;
  int block_;
  std::optional<double> threshold_;
};

}  // namespace vase
