// oracle - blocks ranked by what attention will really find in them: the upper bound of every selection by blocks
// (docs/policies.md 4.16).
//   score(block) = max over the group's query heads and the block's tokens of softmax over all tokens (q . k / sqrt d)
// Reads the top M / block blocks, and the last one on top of them. Costs as much as attention to everything.
//   block   tokens per block, 64 (default)
#pragma once

#include "policies/part_options.h"
#include "vase/reader.h"

namespace vase {

class OracleBlocks final : public Reader {
 public:
  explicit OracleBlocks(int block) : block_(block) {}
  static std::shared_ptr<const Reader> parse(PartOptions& options);

  int block() const override { return block_; }
  size_t scratch_floats(const ModelHeads& heads, int tokens) const override;
  void score(const ReadView& view, std::span<float> out) const override;
  ReadChoice choice(int budget) const override;
  std::string text() const override { return "oracle:block=" + std::to_string(block_); }

 private:
  int block_;
};

}  // namespace vase
