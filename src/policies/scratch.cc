#include <algorithm>

#include "vase/policy.h"

namespace vase {
namespace {

template <typename T>
void grow(std::vector<T>& v, size_t size) {
  if (v.size() < size) v.resize(size);
}

}  // namespace

void PolicyScratch::reserve(int candidates, int head_dim, int sketch) {
  grow(scores, candidates);
  grow(draws, candidates);
  grow(energy, candidates);
  grow(gaussian, static_cast<size_t>(head_dim) * sketch);
  grow(row, padded_row(head_dim));
  grow(keys, candidates);
  grow(claimed, candidates);
  grow(pool, candidates);
  grow(order, candidates);
}

size_t PolicyScratch::bytes_for(int candidates, int head_dim, int sketch) {
  const size_t per_candidate = sizeof(float) * 3 + sizeof(double) + sizeof(uint8_t) + sizeof(uint32_t) * 2;
  return candidates * per_candidate + sizeof(float) * (size_t(head_dim) * sketch + padded_row(head_dim));
}

size_t PolicyScratch::bytes() const {
  return sizeof(float) * (scores.size() + draws.size() + energy.size() + gaussian.size() + row.size()) +
         sizeof(double) * keys.size() + claimed.size() + sizeof(uint32_t) * (pool.size() + order.size());
}

}  // namespace vase
