#include "cache/row_store.h"

#include <cstring>

#include "base/store_row.h"

namespace vase {
namespace {

using kernels::CodeBits;
using kernels::kStripSlots;

CodeBits bits_of(RowType type) { return type == RowType::kQ8_0 ? CodeBits::k8 : CodeBits::k4; }

size_t older_bytes(RowType type, int head_dim, int slots) {
  if (!is_quantised(type)) return slots * row_bytes(type, head_dim);
  return size_t(slots + kStripSlots - 1) / kStripSlots * kernels::strip_bytes(bits_of(type), head_dim);
}

size_t all_bytes(RowType type, int head_dim, std::span<const HeadRoom> heads) {
  size_t bytes = 0;
  for (const HeadRoom& room : heads) bytes += RowStore::bytes_for(type, head_dim, room);
  return bytes;
}

}  // namespace

size_t RowStore::bytes_for(RowType type, int head_dim, const HeadRoom& room) {
  return older_bytes(type, head_dim, room.older) + room.recent * row_bytes(recent_type(type), head_dim);
}

RowStore::RowStore(kernels::StripKind kind, RowType type, int head_dim, std::span<const HeadRoom> heads)
    : kind_(kind),
      type_(type),
      head_dim_(head_dim),
      older_row_(row_bytes(type, head_dim)),
      recent_row_(row_bytes(recent_type(type), head_dim)),
      rooms_(heads.begin(), heads.end()),
      bytes_(all_bytes(type, head_dim, heads)) {
  size_t next = 0;
  for (const HeadRoom& room : rooms_) {
    begin_.push_back(next);
    recent_begin_.push_back(next + older_bytes(type, head_dim, room.older));
    next += bytes_for(type, head_dim, room);
  }
}

kernels::Strips RowStore::strips(size_t head) const {
  return {bytes_.data() + begin_[head], kind_, bits_of(type_), head_dim_};
}

std::byte* RowStore::recent_row(size_t head, int slot) const {
  return bytes_.data() + recent_begin_[head] + slot * recent_row_;
}

std::byte* RowStore::row(size_t head, int slot) const {
  const int older = rooms_[head].older;
  if (slot >= older) return recent_row(head, slot - older);
  return bytes_.data() + begin_[head] + slot * older_row_;
}

kernels::PartRows RowStore::older(size_t head) const {
  if (in_strips()) return {.rows = {}, .strips = strips(head)};
  return {.rows = {row(head, 0), older_row_, type_, head_dim_, nullptr}, .strips = {}};
}

RowsView RowStore::recent(size_t head) const {
  const RowType type = recent_type(type_);
  return {recent_row(head, 0), recent_row_, type, head_dim_, nullptr};
}

void RowStore::store(size_t head, int slot, const float* in) {
  if (in_strips() && slot < rooms_[head].older) return store_in_strips(strips(head), slot, in);
  store_row(recent_type(type_), in, head_dim_, row(head, slot));
}

void RowStore::read(size_t head, int slot, float* out) const {
  if (in_strips() && slot < rooms_[head].older) return read_from_strips(strips(head), slot, out);
  const RowType type = recent_type(type_);
  read_row({row(head, slot), recent_row_, type, head_dim_, nullptr}, 0, out);
}

void RowStore::read(size_t head, int first, int last, float* out, size_t stride) const {
  if (in_strips() && first < rooms_[head].older) {
    kernels::Strips part = strips(head);
    part.base = part.strip(first / kernels::kStripSlots);
    return decode_strips(kernels::Path::kFused, part, last - first, out, stride);
  }
  for (int s = first; s < last; ++s) read(head, s, out + (s - first) * stride);
}

void RowStore::move(size_t head, int from, int to) {
  const int older = rooms_[head].older;
  if (in_strips() && to < older) {
    if (from < older) return move_in_strips(strips(head), from, to);
    float row[kernels::kWidestStrip];
    read(head, from, row);
    return store(head, to, row);
  }
  std::memcpy(row(head, to), row(head, from), recent_row_);
}

void RowStore::poison(size_t head, int first, int last) {
  for (int slot = first; slot < last; ++slot) {
    if (in_strips() && slot < rooms_[head].older) {
      poison_in_strips(strips(head), slot);
    } else {
      // All bits set is a NaN in f32, f16 and bf16.
      std::memset(row(head, slot), 0xff, recent_row_);
    }
  }
}

}  // namespace vase
