#include "eval/report/palette.h"

#include <gtest/gtest.h>

#include <set>

namespace vase::eval::report {
namespace {

TEST(Palette, PresetsLookTheSameOnEveryPage) {
  const Palette one({"tova", "random", "vase-attnv", "full"}), other({"vase-attnv", "vase-dkv", "snapkv"});
  EXPECT_EQ(one.of("vase-attnv"), other.of("vase-attnv"));
  EXPECT_EQ(one.of("full"), (Style{0, 0}));
  EXPECT_EQ(one.of("random"), (Style{1, 0}));
}

TEST(Palette, OthersTakeTheHuesThatAreLeft) {
  const Palette palette({"tova", "h2o", "vase-attnv", "vase-dkv", "snapkv", "r-kv"});
  std::set<int> hues;
  for (const char* name : {"tova", "h2o", "vase-attnv", "vase-dkv", "snapkv", "r-kv"}) {
    EXPECT_GE(palette.of(name).hue, 2);
    hues.insert(palette.of(name).hue);
  }
  EXPECT_EQ(hues.size(), 6u);
}

TEST(Palette, VariantsShareAHueAndDifferInDashes) {
  const Palette palette(
      {"vase-attnv protect+=prompt", "vase-attnv", "vase-attnv · other", "random-prompt", "random"});
  EXPECT_EQ(palette.of("vase-attnv").hue, palette.of("vase-attnv protect+=prompt").hue);
  EXPECT_NE(palette.of("vase-attnv"), palette.of("vase-attnv protect+=prompt"));
  EXPECT_NE(palette.of("vase-attnv"), palette.of("vase-attnv · other"));
  EXPECT_EQ(palette.of("vase-attnv").dash, 0) << "the plain name has the solid line, wherever it stands";
  EXPECT_EQ(palette.of("random-prompt").hue, 1);
  EXPECT_NE(palette.of("random-prompt"), palette.of("random"));
}

TEST(Palette, EightLinesAreAllDifferent) {
  const std::vector<std::string> names = {"full", "random", "a", "b", "c", "d", "e", "f"};
  const Palette palette(names);
  std::set<std::pair<int, int>> styles;
  for (const std::string& name : names) styles.emplace(palette.of(name).hue, palette.of(name).dash);
  EXPECT_EQ(styles.size(), 8u);
}

TEST(Palette, ANameThatComesTwiceIsOne) {
  const Palette palette({"a", "a", "a b"});
  EXPECT_EQ(palette.of("a").dash, 0);
  EXPECT_EQ(palette.of("a b").dash, 1);
}

}  // namespace
}  // namespace vase::eval::report
