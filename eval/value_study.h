// How far the values of a model's tokens spread, layer by layer, and what that does to storing them in few bits
// (eval/value_quantizer.h). A token's range is max - min over the channels of its value in one KV head: what the
// policies with value slots protect (arXiv 2606.03928).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "eval/value_quantizer.h"

namespace vase::eval {

// The values of one layer over one text: tokens `first` .. first + tokens - 1.
struct TextValues {
  int text = 0;   // its number among the texts
  int first = 0;  // position of the first token
  int kv_heads = 0, tokens = 0, head_dim = 0;
  std::vector<float> values;  // [kv_heads][tokens][head_dim]

  // Positions from `skip` on, of a text of so many tokens; values is sized and 0.
  static TextValues sized(int text, int kv_heads, int text_tokens, int head_dim, int skip);
  // Takes rows of some tokens: [tokens][kv_heads][head_dim], the first of them at `position`. What lies before `first`
  // is left out.
  void put(int position, std::span<const float> rows);
};

// One token's value in one KV head.
struct ValueRange {
  int text = 0, kv_head = 0, position = 0;
  double range = 0;
};

// Over all texts, KV heads and tokens of a layer.
struct RangeStudy {
  size_t rows = 0;
  double mean = 0, median = 0, p99 = 0, largest = 0;
  double skewness = 0;  // third central moment over the second to the power of 3/2; 0 when all ranges are equal
  size_t outliers = 0;  // rows whose range is more than `ratio` times the median
  std::vector<ValueRange> farthest;  // the largest ones, in descending order
};

// A part of the texts: positions from `first` on.
struct PlaceRange {
  int first = 0;
  double mean = 0, largest = 0;  // of range / median of its layer, over layers, texts and KV heads
};

// What one quantiser does to a layer. Correlations are empty where one of the two is constant.
struct QuantizerStudy {
  size_t rows = 0;
  double squared_error = 0;               // mean over rows of (1/d) sum (x - decoded)^2
  std::optional<double> pearson;          // of that error and the range
  std::optional<double> spearman;
  std::optional<double> pearson_squares;  // of that error and the square of the range
};

class ValueStudy {
 public:
  ValueStudy(int layers, std::vector<ValueQuantizer> quantizers);

  // One layer's values of one text, quantised as one tensor. Throws Error as quantize_values().
  void add(int layer, const TextValues& values);

  int layers() const { return static_cast<int>(layers_.size()); }
  const std::vector<ValueQuantizer>& quantizers() const { return quantizers_; }
  // listed: the most rows in `farthest`.
  RangeStudy ranges(int layer, double ratio, size_t listed) const;
  QuantizerStudy quantizer(int layer, size_t index) const;
  // Texts cut into at most `most` parts of equal length; those without any row are left out. Layers whose median is 0
  // do not count.
  std::vector<PlaceRange> places(size_t most) const;

 private:
  struct Layer {
    std::vector<ValueRange> rows;
    std::vector<std::vector<double>> squared_errors;  // [quantizers][rows]
  };
  std::vector<double> ranges_of(int layer) const;

  std::vector<ValueQuantizer> quantizers_;
  std::vector<Layer> layers_;
};

}  // namespace vase::eval
