#include "engine/head_blocks.h"

#include <algorithm>

namespace vase {
namespace {

static_assert(RowBlocks::kMost % kernels::kStripSlots == 0);  // so that a block begins with a strip

int blocks_of(int rows) { return (rows + RowBlocks::kMost - 1) / RowBlocks::kMost; }

size_t floats_of(const CacheShape& shape) { return RowBlocks::kMost * padded_row(shape.head_dim); }

}  // namespace

bool HeadBlocks::needed(const CacheShape& shape) {
  return shape.two_parts() && shape.needs.row_blocks && !shape.needs.rows;
}

HeadBlocks::HeadBlocks(const CacheShape& shape, int slots)
    : index_(needed(shape) ? slots : 0), rows_(index_.empty() ? 0 : floats_of(shape)) {}

size_t HeadBlocks::bytes_for(const CacheShape& shape, int slots) {
  if (!needed(shape) || slots == 0) return 0;
  return sizeof(uint32_t) * slots + sizeof(float) * floats_of(shape);
}

size_t HeadBlocks::bytes() const { return sizeof(uint32_t) * index_.size() + sizeof(float) * rows_.size(); }

void HeadBlocks::show(HeadSlots head, std::span<const uint32_t> order) {
  head_ = head;
  for (uint32_t i = 0; i < order.size(); ++i) index_[order[i]] = i;
}

int HeadBlocks::count() const { return blocks_of(head_->older_used()) + blocks_of(head_->recent_used()); }

// Those of the older part come first.
HeadBlocks::Slots HeadBlocks::slots_of(int block) const {
  const int older = blocks_of(head_->older_used());
  const int begin = block < older ? 0 : head_->recent_begin();
  const int end = block < older ? head_->older_used() : begin + head_->recent_used();
  const int first = begin + (block < older ? block : block - older) * kMost;
  return {first, std::min(first + kMost, end)};
}

RowBlock HeadBlocks::block_of(Slots slots) const {
  const int head_dim = head_->shape().head_dim;
  return {.rows = {rows_.data(), padded_row(head_dim) * sizeof(float), RowType::kF32, head_dim, nullptr},
          .index = std::span(index_).subspan(slots.first, slots.last - slots.first)};
}

RowBlock HeadBlocks::keys(int block) {
  const Slots slots = slots_of(block);
  head_->read_keys(slots.first, slots.last, rows_.data(), padded_row(head_->shape().head_dim));
  return block_of(slots);
}

RowBlock HeadBlocks::values(int block) {
  const Slots slots = slots_of(block);
  head_->read_values(slots.first, slots.last, rows_.data(), padded_row(head_->shape().head_dim));
  return block_of(slots);
}

}  // namespace vase
