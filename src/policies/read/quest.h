// quest - pages ranked by an upper bound of their logits (arXiv 2406.10774; docs/policies.md 4.16).
// Per page and KV head the smallest and the largest key of each channel are kept; per query head
//   U(page) = sum_i max(q_i min_i, q_i max_i) >= q . k for every key of the page.
// Reads the top max(3, M / page) pages, the last page being one of them.
//   page          tokens per page, 16 (default)
//   dense_layers  first layers that read everything, 0 (default); the authors' code has 2
#pragma once

#include "policies/part_options.h"
#include "vase/reader.h"

namespace vase {

class Quest final : public Reader {
 public:
  Quest(int page, int dense_layers) : page_(page), dense_layers_(dense_layers) {}
  static std::shared_ptr<const Reader> parse(PartOptions& options);

  int block() const override { return page_; }
  bool per_query_head() const override { return true; }
  int dense_layers() const override { return dense_layers_; }
  // [2][padded head_dim]: smallest, largest.
  int summary_floats(const ModelHeads& heads) const override { return 2 * padded_row(heads.head_dim); }
  size_t scratch_floats(const ModelHeads& heads, int) const override { return padded_row(heads.head_dim); }
  void update(const BlockView& block, std::span<float> summary) const override;
  void score(const ReadView& view, std::span<float> out) const override;
  ReadChoice choice(int budget) const override;
  std::string text() const override;

 private:
  int page_, dense_layers_;
};

}  // namespace vase
