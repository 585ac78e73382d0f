#include "eval/value_study.h"

#include <algorithm>
#include <cmath>

#include "eval/statistics.h"

namespace vase::eval {
namespace {

double skewness(std::span<const double> values) {
  const double centre = mean(values);
  double squares = 0, cubes = 0;
  for (const double v : values) {
    squares += (v - centre) * (v - centre);
    cubes += (v - centre) * (v - centre) * (v - centre);
  }
  const auto n = static_cast<double>(values.size());
  return squares > 0 ? cubes / n / std::pow(squares / n, 1.5) : 0;
}

double range_of(std::span<const float> row) {
  const auto [low, high] = std::ranges::minmax(row);
  return static_cast<double>(high) - static_cast<double>(low);
}

}  // namespace

TextValues TextValues::sized(int text, int kv_heads, int text_tokens, int head_dim, int skip) {
  TextValues all{.text = text,
                 .first = skip,
                 .kv_heads = kv_heads,
                 .tokens = std::max(0, text_tokens - skip),
                 .head_dim = head_dim,
                 .values = {}};
  all.values.resize(size_t(kv_heads) * all.tokens * head_dim);
  return all;
}

void TextValues::put(int position, std::span<const float> rows) {
  const size_t width = head_dim;
  const int count = static_cast<int>(rows.size() / (kv_heads * width));
  for (int t = std::max(0, first - position); t < count; ++t) {
    for (int h = 0; h < kv_heads; ++h) {
      const auto to = values.begin() + (size_t(h) * tokens + position + t - first) * width;
      std::copy_n(rows.begin() + (size_t(t) * kv_heads + h) * width, width, to);
    }
  }
}

ValueStudy::ValueStudy(int layers, std::vector<ValueQuantizer> quantizers)
    : quantizers_(std::move(quantizers)), layers_(layers) {
  for (Layer& layer : layers_) layer.squared_errors.resize(quantizers_.size());
}

void ValueStudy::add(int layer, const TextValues& values) {
  Layer& all = layers_[layer];
  const std::span<const float> numbers = values.values;
  for (int h = 0; h < values.kv_heads; ++h) {
    for (int t = 0; t < values.tokens; ++t) {
      const size_t row = size_t(h) * values.tokens + t;
      all.rows.push_back(
          {values.text, h, values.first + t, range_of(numbers.subspan(row * values.head_dim, values.head_dim))});
    }
  }
  for (size_t i = 0; i < quantizers_.size(); ++i) {
    const QuantizedValues quantized = quantize_values(numbers, values.head_dim, quantizers_[i]);
    const TokenErrors errors = token_errors(numbers, quantized);
    all.squared_errors[i].insert(all.squared_errors[i].end(), errors.squared_error.begin(), errors.squared_error.end());
  }
}

std::vector<double> ValueStudy::ranges_of(int layer) const {
  std::vector<double> ranges;
  ranges.reserve(layers_[layer].rows.size());
  for (const ValueRange& row : layers_[layer].rows) ranges.push_back(row.range);
  return ranges;
}

RangeStudy ValueStudy::ranges(int layer, double ratio, size_t listed) const {
  const std::vector<double> ranges = ranges_of(layer);
  RangeStudy study{
      .rows = ranges.size(), .mean = mean(ranges), .median = median(ranges), .p99 = quantile(ranges, 0.99)};
  study.skewness = skewness(ranges);
  study.outliers =
      static_cast<size_t>(std::ranges::count_if(ranges, [&](double r) { return r > ratio * study.median; }));
  study.farthest.resize(std::min(listed, ranges.size()));
  const auto larger = [](const ValueRange& a, const ValueRange& b) { return a.range > b.range; };
  std::ranges::partial_sort_copy(layers_[layer].rows, study.farthest, larger);
  if (!ranges.empty()) study.largest = std::ranges::max(ranges);
  return study;
}

QuantizerStudy ValueStudy::quantizer(int layer, size_t index) const {
  const std::vector<double> ranges = ranges_of(layer);
  const std::vector<double>& errors = layers_[layer].squared_errors[index];
  std::vector<double> squares;
  for (const double r : ranges) squares.push_back(r * r);
  return {.rows = errors.size(),
          .squared_error = mean(errors),
          .pearson = pearson(errors, ranges),
          .spearman = spearman(errors, ranges),
          .pearson_squares = pearson(errors, squares)};
}

std::vector<PlaceRange> ValueStudy::places(size_t most) const {
  int end = 1;
  for (const Layer& layer : layers_) {
    for (const ValueRange& row : layer.rows) end = std::max(end, row.position + 1);
  }
  const int width = (end + static_cast<int>(most) - 1) / static_cast<int>(most);
  std::vector<PlaceRange> places((end + width - 1) / width);
  std::vector<size_t> counts(places.size());
  for (int layer = 0; layer < layers(); ++layer) {
    const double usual = median(ranges_of(layer));
    if (usual <= 0) continue;
    for (const ValueRange& row : layers_[layer].rows) {
      PlaceRange& place = places[row.position / width];
      place.mean += row.range / usual;
      place.largest = std::max(place.largest, row.range / usual);
      ++counts[row.position / width];
    }
  }
  std::vector<PlaceRange> kept;
  for (size_t i = 0; i < places.size(); ++i) {
    if (counts[i] == 0) continue;
    const double mean = places[i].mean / static_cast<double>(counts[i]);
    kept.push_back({static_cast<int>(i) * width, mean, places[i].largest});
  }
  return kept;
}

}  // namespace vase::eval
