#include "cache/slot_cache.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "kernels/value_range/value_range.h"

namespace vase {
namespace {

void store_row(RowType type, const float* in, int width, std::byte* out) {
  if (type == RowType::kF32) {
    std::memcpy(out, in, sizeof(float) * width);
    return;
  }
  for (int c = 0; c < width; ++c) {
    const uint16_t h = to_half(in[c]);
    std::memcpy(out + 2 * c, &h, 2);
  }
}

template <typename T>
std::span<T> carve(std::byte*& cursor, size_t count) {
  std::span<T> part(reinterpret_cast<T*>(cursor), count);
  cursor += count * sizeof(T);
  return part;
}

}  // namespace

SlotCache::SlotCache(const CacheShape& shape, bool poison)
    : shape_(shape),
      poison_(poison),
      keys_(shape.heads() * shape.capacity * shape.key_row()),
      values_(shape.heads() * shape.capacity * shape.value_row()),
      metadata_(shape.heads() * shape.capacity * shape.metadata()),
      used_(shape.heads(), 0),
      evictions_(shape.heads(), 0) {
  const size_t slots = shape.heads() * shape.capacity;
  std::byte* cursor = metadata_.data();
  positions_ = carve<int32_t>(cursor, slots);
  order_ = carve<uint32_t>(cursor, slots);
  if (shape.needs.value_range) value_range_ = carve<float>(cursor, slots);
  if (shape.needs.attention != AttentionRecord::kNone) attention_ = carve<float>(cursor, slots);
  for (size_t head = 0; head < shape.heads(); ++head) poison_rows(head, 0, shape.capacity);
}

HeadSlots SlotCache::head(int layer, int sequence, int kv_head) {
  return HeadSlots(*this, (size_t(layer) * shape_.sequences + sequence) * shape_.kv_heads + kv_head);
}

void SlotCache::clear(int sequence) {
  for (int layer = 0; layer < shape_.layers; ++layer) {
    for (int h = 0; h < shape_.kv_heads; ++h) {
      const size_t head = this->head(layer, sequence, h).head_;
      poison_rows(head, 0, used_[head]);
      used_[head] = 0;
      evictions_[head] = 0;
      if (!attention_.empty()) {
        std::ranges::fill(attention_.subspan(head * shape_.capacity, shape_.capacity), 0.0f);
      }
    }
  }
}

size_t SlotCache::bytes() const { return keys_.size() + values_.size() + metadata_.size(); }

// All bits set is a NaN in f32 and in f16.
void SlotCache::poison_rows(size_t head, int first, int last) {
  if (!poison_ || first >= last) return;
  const size_t slot = head * shape_.capacity + first;
  const size_t count = last - first;
  std::memset(keys_.data() + slot * shape_.key_row(), 0xff, count * shape_.key_row());
  std::memset(values_.data() + slot * shape_.value_row(), 0xff, count * shape_.value_row());
}

int HeadSlots::used() const { return cache_->used_[head_]; }
int HeadSlots::evictions() const { return cache_->evictions_[head_]; }

RowsView HeadSlots::keys() const {
  const CacheShape& s = cache_->shape_;
  return {cache_->keys_.data() + head_ * s.capacity * s.key_row(), s.key_row(), s.key_type, s.head_dim, nullptr};
}

RowsView HeadSlots::values() const {
  const CacheShape& s = cache_->shape_;
  return {cache_->values_.data() + head_ * s.capacity * s.value_row(), s.value_row(), s.value_type, s.head_dim,
          nullptr};
}

std::span<const uint32_t> HeadSlots::order() const {
  return cache_->order_.subspan(head_ * cache_->shape_.capacity, used());
}

int32_t HeadSlots::position(uint32_t slot) const {
  return cache_->positions_[head_ * cache_->shape_.capacity + slot];
}

float HeadSlots::value_range(uint32_t slot) const {
  return cache_->value_range_[head_ * cache_->shape_.capacity + slot];
}

std::span<float> HeadSlots::attention() const {
  if (cache_->attention_.empty()) return {};
  return cache_->attention_.subspan(head_ * cache_->shape_.capacity, cache_->shape_.capacity);
}

void HeadSlots::append(int32_t position, const float* k, const float* v) {
  const CacheShape& s = cache_->shape_;
  const uint32_t slot = cache_->used_[head_]++;
  const size_t at = head_ * s.capacity + slot;
  if (cache_->poison_) {  // the padding of a row is always zero
    std::memset(cache_->keys_.data() + at * s.key_row(), 0, s.key_row());
    std::memset(cache_->values_.data() + at * s.value_row(), 0, s.value_row());
  }
  store_row(s.key_type, k, s.head_dim, cache_->keys_.data() + at * s.key_row());
  store_row(s.value_type, v, s.head_dim, cache_->values_.data() + at * s.value_row());
  cache_->positions_[at] = position;
  cache_->order_[at] = slot;
  if (!cache_->value_range_.empty()) {
    cache_->value_range_[at] =
        kernels::value_magnitude(kernels::Magnitude::kRange, {v, static_cast<size_t>(s.head_dim)});
  }
}

void HeadSlots::move_row(uint32_t from, uint32_t to) {
  const CacheShape& s = cache_->shape_;
  const size_t first = head_ * s.capacity;
  std::byte* keys = cache_->keys_.data();
  std::byte* values = cache_->values_.data();
  std::memcpy(keys + (first + to) * s.key_row(), keys + (first + from) * s.key_row(), s.key_row());
  std::memcpy(values + (first + to) * s.value_row(), values + (first + from) * s.value_row(), s.value_row());
  cache_->positions_[first + to] = cache_->positions_[first + from];
  if (!cache_->value_range_.empty()) cache_->value_range_[first + to] = cache_->value_range_[first + from];
}

void HeadSlots::apply(std::span<const uint32_t> kept, int candidates, CompactionScratch& scratch) {
  const CacheShape& s = cache_->shape_;
  const int before = used();
  const std::span<const uint32_t> old_order = order();
  const std::span<uint32_t> survivors = std::span(scratch.order).first(kept.size() + (before - candidates));
  for (size_t i = 0; i < kept.size(); ++i) survivors[i] = old_order[kept[i]];
  std::ranges::copy(old_order.subspan(candidates), survivors.begin() + kept.size());

  const uint32_t after = static_cast<uint32_t>(survivors.size());
  std::fill_n(scratch.occupied.begin(), before, uint8_t{0});
  for (uint32_t slot : survivors) scratch.occupied[slot] = 1;
  uint32_t hole = 0;
  for (uint32_t& slot : survivors) {
    if (slot < after) continue;
    while (scratch.occupied[hole]) ++hole;
    move_row(slot, hole);
    slot = hole++;
  }

  std::ranges::copy(survivors, cache_->order_.data() + head_ * s.capacity);
  cache_->poison_rows(head_, static_cast<int>(after), before);
  cache_->used_[head_] = static_cast<int>(after);
  ++cache_->evictions_[head_];
  const std::span<float> mass = attention();
  if (!mass.empty()) std::fill_n(mass.begin(), before, 0.0f);
}

}  // namespace vase
