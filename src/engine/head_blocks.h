// The rows of a head as an eviction shows them where they are stored quantised: decoded a block at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/slot_cache.h"
#include "vase/head_view.h"

namespace vase {

class HeadBlocks final : public RowBlocks {
 public:
  // slots: the most that a head can use; 0: nobody asks for blocks.
  HeadBlocks(const CacheShape& shape, int slots);
  static size_t bytes_for(const CacheShape& shape, int slots);
  size_t bytes() const;

  // Whether the policy of this shape asks for blocks.
  static bool needed(const CacheShape& shape);
  // The head to show, and its slots in logical order.
  void show(HeadSlots head, std::span<const uint32_t> order);

  int count() const override;
  RowBlock keys(int block) override;
  RowBlock values(int block) override;

 private:
  struct Slots {
    int first, last;
  };
  Slots slots_of(int block) const;
  RowBlock block_of(Slots slots) const;

  std::optional<HeadSlots> head_;
  std::vector<uint32_t> index_;  // [slots] which row in logical order each slot holds
  std::vector<float> rows_;      // [kMost][padded head_dim]
};

}  // namespace vase
