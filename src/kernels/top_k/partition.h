// Moves the best of a pool to its front in linear time, without comparisons that the processor would guess wrong: the key
// at the cut is found digit by digit from counts, then one pass moves what is on its right side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace vase::kernels {

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

// Where a pool is cut: keys whose upper bits, those above `shift`, are less than `value` lie before the cut, `below` of
// them; of the `equal` ones with just these bits, as many as are missing.
struct KeyCut {
  uint64_t value = 0;
  int shift = 0;
  size_t below = 0, equal = 0;
};

// For 1 <= count <= pool.size(), keys of `bits` bits. Stops as soon as the equal ones fit in as a whole.
template <class Key>
KeyCut find_cut(std::span<const uint32_t> pool, size_t count, int bits, const Key& key) {
  constexpr int kDigit = 11;
  KeyCut cut{.shift = bits, .equal = pool.size()};
  while (cut.shift > 0 && cut.below + cut.equal != count) {
    const int above = cut.shift, width = std::min(kDigit, above);
    cut.shift -= width;
    uint32_t counts[1 << kDigit] = {};
    for (uint32_t c : pool) {
      const uint64_t k = key(c);
      const bool in_reach = above == bits || k >> above == cut.value;
      counts[(k >> cut.shift) & ((1u << width) - 1)] += in_reach;
    }
    uint32_t digit = 0;
    while (cut.below + counts[digit] < count) cut.below += counts[digit++];
    cut.value = cut.value << width | digit;
    cut.equal = counts[digit];
  }
  return cut;
}

// By key, then by tie.
template <class Key, class Tie>
struct KeyOrder {
  bool operator()(uint32_t a, uint32_t b) const { return key(a) != key(b) ? key(a) < key(b) : tie(a) < tie(b); }
  const Key& key;
  const Tie& tie;
};

// Below this many elements comparing is cheaper than counting.
inline constexpr size_t kSmallPool = 192;

// Permutes the pool so that its first `count` elements are those with the smallest keys; of equal ones, those with the
// smallest ties, which differ from one another. Both are functions of an element, of `bits` <= 64 and of 64 bits. The order
// on either side is a function of the arguments alone.
template <class Key, class Tie>
void partition_smallest(std::span<uint32_t> pool, size_t count, int bits, const Key& key, const Tie& tie) {
  if (count == 0 || count >= pool.size()) return;
  if (pool.size() < kSmallPool) {
    std::nth_element(pool.begin(), pool.begin() + count, pool.end(), KeyOrder{key, tie});
    return;
  }
  const KeyCut cut = find_cut(pool, count, bits, key);
  const auto upper = [&](uint32_t c) { return key(c) >> cut.shift; };
  if (cut.below + cut.equal == count) {
    move_to_front(pool, [&](uint32_t c) { return upper(c) <= cut.value; });
    return;
  }
  move_to_front(pool, [&](uint32_t c) { return upper(c) < cut.value; });
  const std::span<uint32_t> rest = pool.subspan(cut.below);
  move_to_front(rest, [&](uint32_t c) { return upper(c) == cut.value; });
  const std::span<uint32_t> equal = rest.first(cut.equal);
  std::nth_element(equal.begin(), equal.begin() + (count - cut.below), equal.end(),
                   [&](uint32_t a, uint32_t b) { return tie(a) < tie(b); });
}

// Smaller positions first, then smaller indices.
inline uint64_t tie_key(int32_t position, uint32_t candidate) {
  return uint64_t(static_cast<uint32_t>(position) ^ 0x80000000u) << 32 | candidate;
}

}  // namespace vase::kernels
