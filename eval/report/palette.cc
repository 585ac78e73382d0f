#include "eval/report/palette.h"

#include <algorithm>
#include <span>

namespace vase::eval::report {
namespace {

constexpr int kControls = 2;  // hues of the full cache and of random

struct Fixed {
  const char* family;
  int hue;
};

constexpr Fixed kFixed[] = {{"full", 0},   {"random", 1}, {"vase-attnv", 2}, {"vase-dkv", 3},
                            {"snapkv", 4}, {"r-kv", 5},   {"curdkv", 6},     {"vase", 7}};

std::string family_of(const std::string& name) {
  const std::string word = name.substr(0, name.find(' '));
  return word.starts_with("random") ? "random" : word;
}

constexpr int kRanks = 4;

// Who chooses first: presets with a hue of their own, and of each family the plain name, which gets the solid
// line.
int rank_of(const std::string& name) {
  const std::string family = family_of(name);
  const bool fixed = std::ranges::any_of(kFixed, [&](const Fixed& f) { return family == f.family; });
  return (fixed ? 0 : 2) + (name == family ? 0 : 1);
}

}  // namespace

Palette::Palette(const std::vector<std::string>& names) {
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const std::string& name : names) {
      if (rank_of(name) != rank || styles_.contains(name)) continue;
      const int hue = hue_of(family_of(name));
      styles_[name] = {hue, used_[hue]++ % kDashes};
    }
  }
}

int Palette::hue_of(const std::string& family) {
  if (const auto known = families_.find(family); known != families_.end()) return known->second;
  for (const Fixed& f : kFixed) {
    if (family == f.family) return families_[family] = f.hue;
  }
  const std::span<const int> free = std::span(used_).subspan(kControls);
  return families_[family] = kControls + static_cast<int>(std::ranges::min_element(free) - free.begin());
}

Style Palette::of(const std::string& name) const {
  const auto found = styles_.find(name);
  return found == styles_.end() ? Style{} : found->second;
}

}  // namespace vase::eval::report
