#include "cache/slot_cache.h"

#include <algorithm>
#include <cassert>
#include <cstring>

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

std::vector<HeadRoom> rooms_of(const CacheShape& shape) {
  std::vector<HeadRoom> rooms;
  for (int layer = 0; layer < shape.layers; ++layer) {
    rooms.insert(rooms.end(), shape.sequences * shape.kv_heads, shape.room_of(layer));
  }
  return rooms;
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
  if (needs.norm_product) bytes += 4;
  if (needs.log_weight) bytes += 4;
  if (needs.attention == AttentionRecord::kRecurrence) bytes += 8;
  if (is_number(needs.attention)) bytes += 4;
  return bytes;
}

size_t CacheShape::unused_bytes() const {
  size_t bytes = 0;
  for (int layer = 0; two_parts() && layer < layers; ++layer) {
    const HeadRoom room = room_of(layer);
    for (const RowType type : {key_type, value_type}) {
      const HeadRoom recent_alone{0, room.recent};
      const size_t older =
          RowStore::bytes_for(type, head_dim, room) - RowStore::bytes_for(type, head_dim, recent_alone);
      bytes += older - room.older * row_bytes(type, head_dim);
    }
  }
  return bytes * sequences * kv_heads;
}

SlotCache::SlotCache(const CacheShape& shape, bool poison)
    : shape_(shape),
      begin_(first_slots(shape)),
      poison_(poison),
      keys_(kernels::StripKind::kKeys, shape.key_type, shape.head_dim, rooms_of(shape)),
      values_(kernels::StripKind::kValues, shape.value_type, shape.head_dim, rooms_of(shape)),
      metadata_(begin_.back() * shape.metadata()),
      queries_(shape.heads() * shape.query_ring()),
      rooms_(rooms_of(shape)),
      used_(shape.heads()),
      evictions_(shape.heads(), 0) {
  const size_t slots = begin_.back();
  std::byte* cursor = metadata_.data();
  positions_ = carve<int32_t>(cursor, slots);
  order_ = carve<uint32_t>(cursor, slots);
  if (shape.needs.value_range) value_range_ = carve<float>(cursor, slots);
  if (shape.needs.norm_product) norm_product_ = carve<float>(cursor, slots);
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
      poison_rows(head, 0, used_[head].older);
      poison_rows(head, rooms_[head].older, rooms_[head].older + used_[head].recent);
      used_[head] = {};
      evictions_[head] = 0;
    }
  }
}

size_t SlotCache::bytes() const { return keys_.bytes() + values_.bytes() + metadata_.size() + queries_.size(); }

void SlotCache::poison_rows(size_t head, int first, int last) {
  if (!poison_) return;
  keys_.poison(head, first, last);
  values_.poison(head, first, last);
}

size_t HeadSlots::begin() const { return cache_->begin_[head_]; }
const CacheShape& HeadSlots::shape() const { return cache_->shape_; }
int HeadSlots::older_used() const { return cache_->used_[head_].older; }
int HeadSlots::recent_used() const { return cache_->used_[head_].recent; }
int HeadSlots::recent_begin() const { return cache_->rooms_[head_].older; }
int HeadSlots::recent_room() const { return cache_->rooms_[head_].recent - recent_used(); }
int HeadSlots::evictions() const { return cache_->evictions_[head_]; }

RowsView HeadSlots::recent_keys() const { return cache_->keys_.recent(head_); }
RowsView HeadSlots::recent_values() const { return cache_->values_.recent(head_); }
kernels::PartRows HeadSlots::older_keys() const { return cache_->keys_.older(head_); }
kernels::PartRows HeadSlots::older_values() const { return cache_->values_.older(head_); }
void HeadSlots::read_key(uint32_t slot, float* out) const {
  cache_->keys_.read(head_, static_cast<int>(slot), out);
  if (key_offset() && static_cast<int>(slot) < recent_begin())
    kernels::add_key_offset(*key_offset(), position(slot), 1, out);
}
void HeadSlots::read_value(uint32_t slot, float* out) const {
  cache_->values_.read(head_, static_cast<int>(slot), out);
}

void HeadSlots::read_keys(int first, int last, float* out, size_t stride) const {
  cache_->keys_.read(head_, first, last, out, stride);
  if (!key_offset() || first >= recent_begin()) return;
  for (int s = first; s < last; ++s)
    kernels::add_key_offset(*key_offset(), position(s), 1, out + (s - first) * stride);
}

void HeadSlots::read_values(int first, int last, float* out, size_t stride) const {
  cache_->values_.read(head_, first, last, out, stride);
}

void HeadSlots::read_keys(float* out, size_t stride) const {
  const int recent = recent_begin();
  read_keys(0, older_used(), out, stride);
  read_keys(recent, recent + recent_used(), out + recent * stride, stride);
}

void HeadSlots::read_values(float* out, size_t stride) const {
  const int recent = recent_begin();
  read_values(0, older_used(), out, stride);
  read_values(recent, recent + recent_used(), out + recent * stride, stride);
}

template <typename T>
std::span<T> HeadSlots::own(std::span<T> all) const {
  return all.empty() ? all : all.subspan(begin(), cache_->begin_[head_ + 1] - begin());
}

std::span<const uint32_t> HeadSlots::order() const { return own(cache_->order_).first(used()); }
int32_t HeadSlots::position(uint32_t slot) const { return own(cache_->positions_)[slot]; }
std::span<const int32_t> HeadSlots::positions() const { return own(cache_->positions_); }

const kernels::KeyOffset* HeadSlots::key_offset() const {
  const CacheShape& s = cache_->shape_;
  if (cache_->key_offsets_.empty()) return nullptr;
  const size_t layer = head_ / (size_t(s.sequences) * s.kv_heads);
  return &cache_->key_offsets_[layer * s.kv_heads + head_ % s.kv_heads];
}
std::span<const float> HeadSlots::value_range() const { return own(cache_->value_range_); }
std::span<const float> HeadSlots::norm_product() const { return own(cache_->norm_product_); }
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
  cache_->keys_.store(head_, static_cast<int>(slot), k);
}

void HeadSlots::append(int32_t position, const float* k, const float* v) {
  assert(recent_room() > 0);
  const auto slot = static_cast<uint32_t>(recent_begin() + recent_used());
  const size_t at = begin() + slot;
  set_key(slot, k);
  cache_->values_.store(head_, static_cast<int>(slot), v);
  cache_->positions_[at] = position;
  cache_->order_[begin() + used()] = slot;
  ++cache_->used_[head_].recent;
  const auto size = [width = static_cast<size_t>(cache_->shape_.head_dim)](kernels::Magnitude kind, const float* row) {
    return kernels::value_magnitude(kind, {row, width});
  };
  if (!cache_->value_range_.empty()) cache_->value_range_[at] = size(kernels::Magnitude::kRange, v);
  if (!cache_->norm_product_.empty())
    cache_->norm_product_[at] = size(kernels::Magnitude::kL2, k) * size(kernels::Magnitude::kL2, v);
  if (!cache_->attention_.empty()) cache_->attention_[at] = 0;
  if (!cache_->log_weight_.empty()) cache_->log_weight_[at] = 0;
  if (!cache_->last_use_.empty()) {
    cache_->last_use_[at] = position;
    cache_->longest_gap_[at] = 0;
  }
}

void HeadSlots::move_key(uint32_t from, uint32_t to) {
  const auto older = static_cast<uint32_t>(recent_begin());
  if (!key_offset() || from < older || to >= older) {
    return cache_->keys_.move(head_, static_cast<int>(from), static_cast<int>(to));
  }
  float row[kernels::kWidestStrip];
  cache_->keys_.read(head_, static_cast<int>(from), row);
  kernels::add_key_offset(*key_offset(), position(from), -1, row);
  set_key(to, row);
}

void HeadSlots::move_row(uint32_t from, uint32_t to) {
  const size_t first = begin();
  move_key(from, to);
  cache_->values_.move(head_, static_cast<int>(from), static_cast<int>(to));
  const auto move = [&](auto metadata) {
    if (!metadata.empty()) metadata[first + to] = metadata[first + from];
  };
  move(cache_->positions_);
  move(cache_->value_range_);
  move(cache_->norm_product_);
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

void HeadSlots::settle(int stay) {
  const int older = older_used(), recent = recent_used(), begin = recent_begin();
  const int moved = std::min(recent - stay, begin - older);
  if (moved <= 0) return;
  for (int i = 0; i < recent; ++i) move_row(begin + i, i < moved ? older + i : begin + i - moved);
  for (uint32_t& slot : own(cache_->order_).first(used())) {
    const int i = static_cast<int>(slot) - begin;
    if (i >= 0) slot = i < moved ? older + i : begin + i - moved;
  }
  cache_->poison_rows(head_, begin + recent - moved, begin + recent);
  cache_->used_[head_] = {older + moved, recent - moved};
}

void HeadSlots::place_in_one_part(std::span<uint32_t> survivors, uint32_t next_candidates, CompactionScratch& scratch) {
  const auto after = static_cast<uint32_t>(survivors.size());
  const uint32_t next = std::min(next_candidates, after);
  gather(survivors.first(next), 0, next, scratch.occupied);
  gather(survivors.subspan(next), next, after, scratch.occupied);
  cache_->poison_rows(head_, static_cast<int>(after), recent_used());
  cache_->used_[head_].recent = static_cast<int>(after);
}

void HeadSlots::place_in_two_parts(std::span<uint32_t> kept, std::span<uint32_t> tail, CompactionScratch& scratch) {
  const auto older = static_cast<uint32_t>(kept.size()), begin = static_cast<uint32_t>(recent_begin());
  gather(kept, 0, older, scratch.occupied);
  uint32_t next = begin;
  for (uint32_t& slot : tail) {  // chronological, so that none is overwritten
    assert(slot >= next);
    if (slot != next) move_row(slot, next);
    slot = next++;
  }
  cache_->poison_rows(head_, static_cast<int>(older), older_used());
  cache_->poison_rows(head_, static_cast<int>(next), static_cast<int>(begin) + recent_used());
  cache_->used_[head_] = {static_cast<int>(older), static_cast<int>(next - begin)};
}

void HeadSlots::clear_window(int older, int recent) {
  if (!is_window(cache_->shape_.needs.attention)) return;
  std::fill_n(attention().begin(), older, 0.0f);
  std::fill_n(attention().begin() + recent_begin(), recent, 0.0f);
}

void HeadSlots::apply(const KeepPlan& plan, CompactionScratch& scratch) {
  const int before = used(), older = older_used(), recent = recent_used();
  const size_t keep = plan.kept.size();
  const std::span<const uint32_t> old_order = order();
  const std::span<uint32_t> survivors = std::span(scratch.order).first(keep + (before - plan.candidates));
  for (size_t i = 0; i < keep; ++i) survivors[i] = old_order[plan.kept[i]];
  std::ranges::copy(old_order.subspan(plan.candidates), survivors.begin() + keep);
  if (!plan.log_weight.empty()) {
    for (size_t i = 0; i < keep; ++i) own(cache_->log_weight_)[survivors[i]] = plan.log_weight[plan.kept[i]];
  }
  std::fill_n(scratch.occupied.begin(), recent_begin() + recent, uint8_t{0});
  for (const uint32_t slot : survivors) scratch.occupied[slot] = 1;
  if (cache_->shape_.two_parts()) {
    place_in_two_parts(survivors.first(keep), survivors.subspan(keep), scratch);
  } else {
    place_in_one_part(survivors, static_cast<uint32_t>(plan.next_candidates), scratch);
  }
  std::ranges::copy(survivors, own(cache_->order_).begin());
  ++cache_->evictions_[head_];
  clear_window(std::max(older, older_used()), recent);
}

}  // namespace vase
