// Moves the best of a pool to its front in linear time, without comparisons that the processor would guess wrong: keys are
// counted in bins, and only the bin that the cut falls into needs a closer look.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace vase::kernels {

// By key, then by tie.
template <class Key, class Tie>
struct KeyOrder {
  bool operator()(uint32_t a, uint32_t b) const { return key(a) != key(b) ? key(a) < key(b) : tie(a) < tie(b); }
  const Key& key;
  const Tie& tie;
};

// Smaller positions first, then smaller indices.
inline uint64_t tie_key(int32_t position, uint32_t candidate) {
  return uint64_t(static_cast<uint32_t>(position) ^ 0x80000000u) << 32 | candidate;
}

// Moves the elements that `in` accepts to the front of the pool, in their order. Returns how many.
template <class In>
size_t move_to_front(std::span<uint32_t> pool, const In& in) {
  size_t found = 0;
  for (uint32_t& place : pool) {
    const uint32_t c = place;
    place = pool[found];
    pool[found] = c;
    found += in(c);
  }
  return found;
}

// Bins of equal width between the smallest key of a pool and its largest.
struct KeyBins {
  static constexpr int kBits = 11;
  uint64_t smallest = UINT64_MAX, largest = 0;
  int shift = 0;

  template <class Key>
  KeyBins(std::span<const uint32_t> pool, const Key& key) {
    for (uint32_t c : pool) {
      smallest = std::min<uint64_t>(smallest, key(c));
      largest = std::max<uint64_t>(largest, key(c));
    }
    shift = std::max(0, static_cast<int>(std::bit_width(largest - smallest)) - kBits);
  }
  uint32_t bin(uint64_t key) const { return static_cast<uint32_t>((key - smallest) >> shift); }
};

// partition_smallest() by comparisons.
template <class Key, class Tie>
void compare_smallest(std::span<uint32_t> pool, size_t count, const Key& key, const Tie& tie) {
  std::nth_element(pool.begin(), pool.begin() + count, pool.end(), KeyOrder{key, tie});
}

// Permutes the pool so that its first `count` elements are those with the smallest keys; of equal ones, those with the
// smallest ties, which differ from one another. Both are functions of an element that give a uint64_t. The order on either
// side is a function of the arguments alone. O(pool): every round narrows the keys that are left by a factor of 2048.
template <class Key, class Tie>
void partition_smallest(std::span<uint32_t> pool, size_t count, const Key& key, const Tie& tie) {
  constexpr size_t kSmall = 192;  // below, comparing is cheaper than counting
  while (count > 0 && count < pool.size()) {
    if (pool.size() < kSmall) return compare_smallest(pool, count, key, tie);
    const KeyBins bins(pool, key);
    if (bins.smallest == bins.largest) return compare_smallest(pool, count, key, tie);
    uint32_t counts[1 << KeyBins::kBits] = {};
    for (uint32_t c : pool) ++counts[bins.bin(key(c))];
    uint32_t cut = 0;
    size_t below = 0;
    while (below + counts[cut] < count) below += counts[cut++];
    move_to_front(pool, [&](uint32_t c) { return bins.bin(key(c)) < cut; });
    pool = pool.subspan(below);
    move_to_front(pool, [&](uint32_t c) { return bins.bin(key(c)) == cut; });
    pool = pool.first(counts[cut]);
    count -= below;
  }
}

}  // namespace vase::kernels
