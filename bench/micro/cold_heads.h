// Attention over rows that come from memory: heads of many layers, cycled so that caches hold none of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "base/store_row.h"
#include "kernels/slot_attention/slot_attention.h"
#include "synthetic/normals.h"

namespace vase::kernels {

using bench::normals;

// Rows of one type and width, quantised ones in strips: a few thousand random ones, repeated over 512 MiB.
class RowPool {
 public:
  static constexpr size_t kBytes = size_t{512} << 20;

  RowPool(RowType row_type, int width) : type(row_type), head_dim(width), rows_(kBytes) {
    constexpr size_t kDistinct = 4096;
    const size_t bytes = row_bytes(type, head_dim);
    const std::vector<float> numbers = normals(kDistinct * head_dim, 1);
    for (size_t i = 0; i < kDistinct; ++i) {
      const float* const row = &numbers[i * head_dim];
      if (is_quantised(type)) {
        store_in_strips(strips(StripKind::kKeys, 0), static_cast<int>(i), row);
      } else {
        store_row(type, row, head_dim, rows_.data() + i * bytes);
      }
    }
    for (size_t done = kDistinct * bytes; done < kBytes; done *= 2) {
      std::memcpy(rows_.data() + done, rows_.data(), std::min(done, kBytes - done));
    }
  }

  RowsView view(size_t first) const {
    const size_t bytes = row_bytes(type, head_dim);
    return {rows_.data() + first * bytes, bytes, type, head_dim, nullptr};
  }

  // From row `first` on, a multiple of kStripSlots. As values the numbers stand in another order, and are as good.
  Strips strips(StripKind kind, size_t first) const {
    const CodeBits bits = type == RowType::kQ8_0 ? CodeBits::k8 : CodeBits::k4;
    return {rows_.data() + first / kStripSlots * strip_bytes(bits, head_dim), kind, bits, head_dim};
  }

  const RowType type;
  const int head_dim;

 private:
  HugeBuffer rows_;
};

// Layers of `kv_heads` heads over a pool: [layer][K, V][kv_head][slot][row].
class ColdHeads {
 public:
  // with_offset: keys, which are quantised, are stored without the constant part of eight pairs of channels.
  ColdHeads(const RowPool& pool, int kv_heads, int group, int slots, bool with_offset = false)
      : pool_(&pool),
        kv_heads_(kv_heads),
        group_(group),
        slots_(slots),
        q_(normals(size_t(kv_heads) * group * pool.head_dim, 2)),
        newest_(2 * row_bytes(RowType::kF16, pool.head_dim)),
        out_(q_.size()),
        mass_(size_t(kv_heads) * slots) {
    if (!with_offset) return;
    const int pairs = pool.head_dim / 2;
    std::vector<float> frequencies;
    for (int f = 0; f < pairs; ++f) frequencies.push_back(std::pow(1e6f, -static_cast<float>(f) / static_cast<float>(pairs)));
    offset_ = key_offset(normals(pool.head_dim, 4), {.frequencies = frequencies}, 8);
    positions_.resize(slots);
    std::iota(positions_.begin(), positions_.end(), 0);
  }

  int kv_heads() const { return kv_heads_; }
  int slots() const { return slots_; }
  int layers() const { return static_cast<int>(std::max<size_t>(1, RowPool::kBytes / bytes_per_layer())); }
  size_t bytes_per_layer() const { return 2 * size_t(kv_heads_) * slots_ * row_bytes(pool_->type, pool_->head_dim); }

  // One token's attention. mass: over all slots but the newest 64. With quantised rows all slots but the token's own
  // are older.
  SlotAttentionArgs args(int layer, int kv_head, bool mass) {
    const int d = pool_->head_dim;
    SlotAttentionArgs args;
    args.head_dim = d;
    args.group = group_;
    args.slots_before = slots_ - 1;
    args.scale = 1 / std::sqrt(static_cast<float>(d));
    args.q = q_.data() + size_t(kv_head) * group_ * d;
    args.out = out_.data() + size_t(kv_head) * group_ * d;
    args.q_head_stride = args.out_head_stride = d;
    const size_t keys = (2 * size_t(layer) * kv_heads_ + kv_head) * slots_;
    const size_t values = ((2 * size_t(layer) + 1) * kv_heads_ + kv_head) * slots_;
    float* const mass_of_head = mass_.data() + size_t(kv_head) * slots_;
    if (is_quantised(pool_->type)) {
      args.slots_before = 0;
      args.k = args.v = {newest_.data(), row_bytes(RowType::kF16, d), RowType::kF16, d, nullptr};
      args.older = {.slots = slots_ - 1,
                    .k = {.rows = {}, .strips = pool_->strips(StripKind::kKeys, keys)},
                    .v = {.rows = {}, .strips = pool_->strips(StripKind::kValues, values)},
                    .key_offset = positions_.empty() ? nullptr : &offset_,
                    .positions = positions_.data(),
                    .sum = mass_of_head};
      if (mass) args.mass = {.sum = mass_of_head + slots_ - 1, .candidates = 0};
      return args;
    }
    args.k = pool_->view(keys);
    args.v = pool_->view(values);
    if (mass) args.mass = {.sum = mass_of_head, .candidates = std::max(1, slots_ - 64)};
    return args;
  }

 private:
  const RowPool* pool_;
  int kv_heads_, group_, slots_;
  std::vector<float> q_;
  std::vector<std::byte> newest_;  // rows of zeros
  std::vector<float> out_, mass_;
  KeyOffset offset_;
  std::vector<int32_t> positions_;  // [slots] with an offset, else empty
};

}  // namespace vase::kernels
