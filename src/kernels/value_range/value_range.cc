#include "kernels/value_range/value_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace vase::kernels {
namespace {

// Folds a row lane by lane, so that the compiler can keep the lanes in vector registers: lane[i % kLanes]
// takes element i. The caller combines the lanes.
constexpr size_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

template <class Step>
void fold_lanes(std::span<const float> row, Lanes& lanes, Step step) {
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) lanes[j] = step(lanes[j], row[i + j]);
  }
  for (size_t j = 0; i + j < row.size(); ++j) lanes[j] = step(lanes[j], row[i + j]);
}

template <class Step>
float sum_of(std::span<const float> row, Step term) {
  Lanes lanes{};
  fold_lanes(row, lanes, [term](float sum, float x) { return sum + term(x); });
  float sum = 0;
  for (float lane : lanes) sum += lane;
  return sum;
}

float range(std::span<const float> row) {
  Lanes low, high;
  low.fill(row[0]);
  high.fill(row[0]);
  fold_lanes(row, low, [](float a, float x) { return x < a ? x : a; });
  fold_lanes(row, high, [](float a, float x) { return x > a ? x : a; });
  return *std::max_element(high.begin(), high.end()) - *std::min_element(low.begin(), low.end());
}

float variance(std::span<const float> row) {
  if (row.size() < 2) return 0;
  const float mean = sum_of(row, [](float x) { return x; }) / static_cast<float>(row.size());
  const float squares = sum_of(row, [mean](float x) { return (x - mean) * (x - mean); });
  return squares / static_cast<float>(row.size() - 1);
}

float absmax(std::span<const float> row) {
  Lanes lanes{};
  fold_lanes(row, lanes, [](float a, float x) { return std::fabs(x) > a ? std::fabs(x) : a; });
  return *std::max_element(lanes.begin(), lanes.end());
}

}  // namespace

float value_magnitude(Magnitude kind, std::span<const float> row) {
  if (row.empty()) return 0;
  switch (kind) {
    case Magnitude::kRange:
      return range(row);
    case Magnitude::kVariance:
      return variance(row);
    case Magnitude::kL2:
      return std::sqrt(sum_of(row, [](float x) { return x * x; }));
    case Magnitude::kAbsMax:
      return absmax(row);
  }
  return 0;
}

}  // namespace vase::kernels
