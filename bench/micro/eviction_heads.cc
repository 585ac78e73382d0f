#include "micro/eviction_heads.h"

#include <cmath>
#include <random>

#include "base/store_row.h"

namespace vase::bench {
namespace {

constexpr int kQueries = 64;
constexpr size_t kRowBytes = row_bytes(RowType::kF16, EvictionHeads::kHeadDim);

}  // namespace

EvictionHeads::EvictionHeads(int kv_heads) : rows_(size_t(2) * kv_heads * kSlots * kRowBytes) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> row(kHeadDim);
  for (size_t at = 0; at < rows_.size(); at += kRowBytes) {
    for (float& x : row) x = normal(random);
    store_row(RowType::kF16, row.data(), kHeadDim, rows_.data() + at);
  }
  queries_.resize(size_t(kQueries) * kGroup * kHeadDim);
  for (float& q : queries_) q = normal(random);
  for (int f = 0; f < kHeadDim / 2; ++f) frequencies_.push_back(std::pow(1e6f, -2.0f * float(f) / kHeadDim));
  for (int j = 0; j < kSlots; ++j) {
    slots_.push_back(
        static_cast<uint32_t>((j * 2049u) % kSlots));  // holes are filled, so order is not that of memory
    if (j >= kCandidates) continue;
    positions_.push_back(3 * j);
    attention_.push_back(std::abs(normal(random)) / 64);
    range_.push_back(std::abs(normal(random)));
    products_.push_back(std::abs(normal(random)));
    gaps_.push_back(j % 97);
    uses_.push_back(3 * j + gaps_.back());
    weights_.push_back(0);
  }
}

HeadView EvictionHeads::view(const PolicyNeeds& needs, int kv_head) const {
  HeadView head{.budget = kCandidates, .buffer = kBuffer, .prompt_tokens = 256, .group = kGroup};
  head.kv_head = kv_head;
  head.seen = 3 * kCandidates + kBuffer;
  head.positions = positions_;
  head.attention = attention_;
  head.attention_rows = kGroup * kBuffer;
  head.last_use = uses_;
  head.longest_gap = gaps_;
  head.value_range = range_;
  head.norm_product = products_;
  if (needs.log_weight) head.log_weight = weights_;
  head.keys = rows(2 * kv_head);
  head.values = rows(2 * kv_head + 1);
  head.queries = {queries_.data(), kQueries, 5, kQueries, kGroup, kHeadDim};
  head.rope = {.frequencies = frequencies_};
  return head;
}

RowsView EvictionHeads::rows(int index) const {
  return {rows_.data() + size_t(index) * kSlots * kRowBytes, kRowBytes, RowType::kF16, kHeadDim,
          slots_.data()};
}

}  // namespace vase::bench
