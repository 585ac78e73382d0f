#include "cache/slot_cache.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/store_row.h"
#include "kernels/value_range/value_range.h"

namespace vase {
namespace {

// Heads lie behind one another by layer, sequence and KV head.
std::vector<size_t> first_slots(const CacheShape& shape) {
  std::vector<size_t> begin = {0};
  for (int layer = 0; layer < shape.layers; ++layer) {
    for (int i = 0; i < shape.sequences * shape.kv_heads; ++i) begin.push_back(begin.back() + shape.capacity_of(layer));
  }
  return begin;
}

template <typename T>
std::span<T> carve(std::byte*& cursor, size_t count) {
  std::span<T> part(reinterpret_cast<T*>(cursor), count);
  cursor += count * sizeof(T);
  return part;
}

}  // namespace

size_t CacheShape::metadata() const {
  size_t bytes = 8;  // position and order
  if (needs.value_range) bytes += 4;
  if (needs.log_weight) bytes += 4;
  if (needs.attention == AttentionRecord::kRecurrence) bytes += 8;
  if (is_number(needs.attention)) bytes += 4;
  return bytes;
}

SlotCache::SlotCache(const CacheShape& shape, bool poison)
    : shape_(shape),
      begin_(first_slots(shape)),
      poison_(poison),
      keys_(begin_.back() * shape.key_row()),
      values_(begin_.back() * shape.value_row()),
      metadata_(begin_.back() * shape.metadata()),
      queries_(shape.heads() * shape.query_ring()),
      used_(shape.heads(), 0),
      evictions_(shape.heads(), 0) {
  const size_t slots = begin_.back();
  std::byte* cursor = metadata_.data();
  positions_ = carve<int32_t>(cursor, slots);
  order_ = carve<uint32_t>(cursor, slots);
  if (shape.needs.value_range) value_range_ = carve<float>(cursor, slots);
  if (shape.needs.log_weight) log_weight_ = carve<float>(cursor, slots);
  if (is_number(shape.needs.attention)) attention_ = carve<float>(cursor, slots);
  if (shape.needs.attention == AttentionRecord::kRecurrence) {
    last_use_ = carve<int32_t>(cursor, slots);
    longest_gap_ = carve<int32_t>(cursor, slots);
  }
  for (size_t head = 0; head < shape.heads(); ++head) {
    poison_rows(head, 0, static_cast<int>(begin_[head + 1] - begin_[head]));
  }
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
    }
  }
}

size_t SlotCache::bytes() const { return keys_.size() + values_.size() + metadata_.size() + queries_.size(); }

// All bits set is a NaN in f32, f16 and bf16, and so are the scales of blocks.
void SlotCache::poison_rows(size_t head, int first, int last) {
  if (!poison_ || first >= last) return;
  const size_t slot = begin_[head] + first;
  const size_t count = last - first;
  std::memset(keys_.data() + slot * shape_.key_row(), 0xff, count * shape_.key_row());
  std::memset(values_.data() + slot * shape_.value_row(), 0xff, count * shape_.value_row());
}

size_t HeadSlots::begin() const { return cache_->begin_[head_]; }
int HeadSlots::used() const { return cache_->used_[head_]; }
int HeadSlots::evictions() const { return cache_->evictions_[head_]; }

RowsView HeadSlots::keys() const {
  const CacheShape& s = cache_->shape_;
  return {cache_->keys_.data() + begin() * s.key_row(), s.key_row(), s.key_type, s.head_dim, nullptr};
}

RowsView HeadSlots::values() const {
  const CacheShape& s = cache_->shape_;
  return {cache_->values_.data() + begin() * s.value_row(), s.value_row(), s.value_type, s.head_dim,
          nullptr};
}

template <typename T>
std::span<T> HeadSlots::own(std::span<T> all) const {
  return all.empty() ? all : all.subspan(begin(), cache_->begin_[head_ + 1] - begin());
}

std::span<const uint32_t> HeadSlots::order() const { return own(cache_->order_).first(used()); }
int32_t HeadSlots::position(uint32_t slot) const { return own(cache_->positions_)[slot]; }
std::span<const float> HeadSlots::value_range() const { return own(cache_->value_range_); }
std::span<float> HeadSlots::attention() const { return own(cache_->attention_); }
std::span<int32_t> HeadSlots::last_use() const { return own(cache_->last_use_); }
std::span<int32_t> HeadSlots::longest_gap() const { return own(cache_->longest_gap_); }
std::span<const float> HeadSlots::log_weight() const { return own(cache_->log_weight_); }

QueriesView HeadSlots::queries(int64_t seen) const {
  const CacheShape& s = cache_->shape_;
  const int capacity = s.needs.queries;
  if (capacity == 0) return {};
  const int count = static_cast<int>(std::min<int64_t>(seen, capacity));
  return {.base = reinterpret_cast<const float*>(cache_->queries_.data() + head_ * s.query_ring()),
          .capacity = capacity,
          .first = static_cast<int>((seen - count) % capacity),
          .count = count,
          .group = s.group,
          .width = s.head_dim};
}

void HeadSlots::push_queries(int32_t position, const float* q) {
  const CacheShape& s = cache_->shape_;
  const size_t bytes = sizeof(float) * s.group * s.head_dim;
  std::memcpy(cache_->queries_.data() + head_ * s.query_ring() + position % s.needs.queries * bytes, q, bytes);
}

void HeadSlots::set_key(uint32_t slot, const float* k) {
  const CacheShape& s = cache_->shape_;
  store_row(s.key_type, k, s.head_dim, cache_->keys_.data() + (begin() + slot) * s.key_row());
}

void HeadSlots::append(int32_t position, const float* k, const float* v) {
  const CacheShape& s = cache_->shape_;
  const uint32_t slot = cache_->used_[head_]++;
  const size_t at = begin() + slot;
  set_key(slot, k);
  store_row(s.value_type, v, s.head_dim, cache_->values_.data() + at * s.value_row());
  cache_->positions_[at] = position;
  cache_->order_[at] = slot;
  if (!cache_->value_range_.empty()) {
    cache_->value_range_[at] =
        kernels::value_magnitude(kernels::Magnitude::kRange, {v, static_cast<size_t>(s.head_dim)});
  }
  if (!cache_->attention_.empty()) cache_->attention_[at] = 0;
  if (!cache_->log_weight_.empty()) cache_->log_weight_[at] = 0;
  if (!cache_->last_use_.empty()) {
    cache_->last_use_[at] = position;
    cache_->longest_gap_[at] = 0;
  }
}

void HeadSlots::move_row(uint32_t from, uint32_t to) {
  const CacheShape& s = cache_->shape_;
  const size_t first = begin();
  std::byte* keys = cache_->keys_.data();
  std::byte* values = cache_->values_.data();
  std::memcpy(keys + (first + to) * s.key_row(), keys + (first + from) * s.key_row(), s.key_row());
  std::memcpy(values + (first + to) * s.value_row(), values + (first + from) * s.value_row(), s.value_row());
  const auto move = [&](auto metadata) {
    if (!metadata.empty()) metadata[first + to] = metadata[first + from];
  };
  move(cache_->positions_);
  move(cache_->value_range_);
  move(cache_->attention_);
  move(cache_->log_weight_);
  move(cache_->last_use_);
  move(cache_->longest_gap_);
}

void HeadSlots::gather(std::span<uint32_t> part, uint32_t low, uint32_t high, std::span<uint8_t> occupied) {
  uint32_t hole = low;
  for (uint32_t& slot : part) {
    if (slot >= low && slot < high) continue;
    while (occupied[hole]) ++hole;
    assert(hole < high);
    move_row(slot, hole);
    occupied[slot] = 0;
    occupied[hole] = 1;
    slot = hole;
  }
}

void HeadSlots::apply(const KeepPlan& plan, CompactionScratch& scratch) {
  const CacheShape& s = cache_->shape_;
  const int before = used();
  const size_t keep = plan.kept.size();
  const std::span<const uint32_t> old_order = order();
  const std::span<uint32_t> survivors = std::span(scratch.order).first(keep + (before - plan.candidates));
  for (size_t i = 0; i < keep; ++i) survivors[i] = old_order[plan.kept[i]];
  std::ranges::copy(old_order.subspan(plan.candidates), survivors.begin() + keep);
  if (!plan.log_weight.empty()) {
    for (size_t i = 0; i < keep; ++i) own(cache_->log_weight_)[survivors[i]] = plan.log_weight[plan.kept[i]];
  }

  const uint32_t after = static_cast<uint32_t>(survivors.size());
  const uint32_t next = std::min(static_cast<uint32_t>(plan.next_candidates), after);
  std::fill_n(scratch.occupied.begin(), before, uint8_t{0});
  for (uint32_t slot : survivors) scratch.occupied[slot] = 1;
  gather(survivors.first(next), 0, next, scratch.occupied);
  gather(survivors.subspan(next), next, after, scratch.occupied);

  std::ranges::copy(survivors, own(cache_->order_).begin());
  cache_->poison_rows(head_, static_cast<int>(after), before);
  cache_->used_[head_] = static_cast<int>(after);
  ++cache_->evictions_[head_];
  if (is_window(s.needs.attention)) std::fill_n(attention().begin(), before, 0.0f);
}

}  // namespace vase
