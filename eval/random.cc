#include "eval/random.h"

#include "base/fnv.h"

namespace vase::eval {

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  return mixed(state_);
}

uint64_t Random::below(uint64_t count) {
  const uint64_t unfair = (0 - count) % count;  // 2^64 mod count: so many numbers would make some results likelier
  uint64_t draw = next();
  while (draw < unfair) draw = next();
  return draw % count;
}

int Random::between(int low, int high) { return low + static_cast<int>(below(static_cast<uint64_t>(high - low) + 1)); }

uint64_t seed_from(std::string_view text) {
  Fnv hash;
  hash.add(text);
  return hash.value();
}

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace vase::eval
