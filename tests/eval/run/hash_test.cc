// Hashes and derived seeds: the same everywhere and for ever, since folders and records rely on them.
#include "eval/run/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace vase::eval {
namespace {

TEST(Hash, IsTheDocumentedFunction) {
  // FNV-1a of "a" is 0xAF63DC4C8601EC8C; the finaliser of splitmix64 turns that, computed by hand, into this.
  uint64_t x = 0xAF63DC4C8601EC8Cu;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  EXPECT_EQ(hash_text("a"), x ^ (x >> 31));
}

TEST(Hash, PiecesMakeTheHashOfTheWhole) {
  for (const uint64_t start : {0u, 5u}) {
    TextHash pieces(start);
    for (const char* piece : {"ab", "", "c", "\xc3\xa9"}) pieces.add(piece);
    EXPECT_EQ(pieces.value(), hash_text("abc\xc3\xa9", start));
  }
}

// Folders of earlier versions go on under it.
TEST(Hash, StaysWhatItWas) {
  EXPECT_EQ(hash_text("chain:steps=40", 7), 0x2D24BD62FE1DDA09u);
  EXPECT_EQ(derived_seed(7, "text", "a", "b", 3), 0xCAA02D98EBF450CBu);
}

TEST(Hash, DigitsHaveLeadingZeros) {
  EXPECT_EQ(hex_digits(0xABC), "0000000000000abc");
  EXPECT_EQ(hex_digits(~uint64_t{0}), "ffffffffffffffff");
}

TEST(DerivedSeed, EveryPartCounts) {
  std::set<uint64_t> seeds;
  for (const uint64_t base : {0u, 1u}) {
    for (const char* purpose : {"text", "evictions"}) {
      for (const char* task : {"a", "b"}) {
        for (const char* problem : {"p-1", "p-11", "p\",1"}) {
          for (const int sample : {0, 1, 10})
            seeds.insert(derived_seed(base, purpose, task, problem, sample));
        }
      }
    }
  }
  EXPECT_EQ(seeds.size(), 2u * 2 * 2 * 3 * 3);
  EXPECT_EQ(derived_seed(7, "text", "a", "b", 3), derived_seed(7, "text", "a", "b", 3));
}

TEST(DerivedSeed, NeighboursShareNoPattern) {
  double bits = 0;
  for (int sample = 0; sample < 1000; ++sample) {
    bits += std::popcount(derived_seed(0, "text", "t", "p", sample) ^
                          derived_seed(0, "text", "t", "p", sample + 1));
  }
  EXPECT_NEAR(bits / 1000, 32, 0.7);  // the standard error is 4 / sqrt(1000) = 0.13
}

}  // namespace
}  // namespace vase::eval
