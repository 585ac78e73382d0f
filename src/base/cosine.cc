#include "base/cosine.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vase {
namespace {

constexpr size_t kMostRows = 512;

// [width][used]: evenly spaced rows, each of length 1, a channel at a time, so that one row meets the others at once.
std::vector<double> directions_of(std::span<const float> rows, size_t width, size_t used) {
  const size_t count = rows.size() / width;
  std::vector<double> directions(width * used);
  for (size_t i = 0; i < used; ++i) {
    const auto row = rows.subspan(i * count / used * width, width);
    double squares = 0;
    for (const float x : row) squares += double(x) * x;
    for (size_t c = 0; squares > 0 && c < width; ++c) directions[c * used + i] = row[c] / std::sqrt(squares);
  }
  return directions;
}

}  // namespace

std::optional<double> mean_abs_cosine(std::span<const float> rows, int width) {
  const size_t used = std::min(rows.size() / width, kMostRows);
  if (used < 2) return std::nullopt;
  const std::vector<double> directions = directions_of(rows, width, used);
  std::vector<double> cosines(used);  // of row a with the rows behind it
  double sum = 0;
  for (size_t a = 0; a + 1 < used; ++a) {
    std::ranges::fill(cosines, 0);
    for (int c = 0; c < width; ++c) {
      const double* channel = directions.data() + c * used;
      for (size_t b = a + 1; b < used; ++b) cosines[b] += channel[a] * channel[b];
    }
    for (size_t b = a + 1; b < used; ++b) sum += std::abs(cosines[b]);
  }
  return sum / (double(used) * double(used - 1) / 2);
}

}  // namespace vase
