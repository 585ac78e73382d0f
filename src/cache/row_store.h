// Keys or values of all heads. A head's slots lie in two parts: the older ones, quantised in strips or in rows of the
// type asked for, and behind them the recent ones, in rows. A cache without quantised rows has recent ones alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_buffer.h"
#include "kernels/slot_attention/slot_attention.h"
#include "kernels/strips/strips.h"
#include "vase/rows.h"

namespace vase {

// Rows of tokens that have not left the buffer yet: quantised types come later.
constexpr RowType recent_type(RowType type) { return is_quantised(type) ? RowType::kF16 : type; }

struct HeadRoom {
  int older = 0, recent = 0;  // slots
};

class RowStore {
 public:
  // heads: the room of each.
  RowStore(kernels::StripKind kind, RowType type, int head_dim, std::span<const HeadRoom> heads);
  // Bytes that one head of this room takes.
  static size_t bytes_for(RowType type, int head_dim, const HeadRoom& room);

  kernels::PartRows older(size_t head) const;
  RowsView recent(size_t head) const;

  // Slots count on from the older ones to the recent ones. row: head_dim floats.
  void store(size_t head, int slot, const float* row);
  void read(size_t head, int slot, float* row) const;
  // The same of the slots [first, last), all of one part, row s to out + (s - first) * stride, in floats. first: of the older
  // part a multiple of kStripSlots.
  void read(size_t head, int first, int last, float* out, size_t stride) const;
  // Bytes move as they are within a part. From the recent part to the older one a row is read and stored anew.
  void move(size_t head, int from, int to);
  // Makes the slots [first, last) NaN.
  void poison(size_t head, int first, int last);
  size_t bytes() const { return bytes_.size(); }

 private:
  bool in_strips() const { return is_quantised(type_); }
  kernels::Strips strips(size_t head) const;
  std::byte* row(size_t head, int slot) const;  // of either part, when the part has rows
  std::byte* recent_row(size_t head, int slot) const;

  kernels::StripKind kind_;
  RowType type_;
  int head_dim_;
  size_t older_row_, recent_row_;     // bytes of a row; the first of rows alone
  std::vector<HeadRoom> rooms_;       // [heads]
  std::vector<size_t> begin_, recent_begin_;  // [heads] bytes
  HugeBuffer bytes_;
};

}  // namespace vase
