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

}  // namespace vase
