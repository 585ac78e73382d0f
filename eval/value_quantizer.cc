#include "eval/value_quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr float kLargestScale = 2e4f, kFlatRange = 1e-4f;
constexpr float kPower = 0.7f, kBeta = 10;

void require(bool ok, const std::string& message) {
  if (!ok) throw Error(ErrorCode::kUsage, "value quantizer: " + message);
}

void check(std::span<const float> values, int width, const ValueQuantizer& quantizer) {
  const auto given = [](int number) { return std::to_string(number); };
  require(quantizer.bits >= 1 && quantizer.bits <= 8, given(quantizer.bits) + " bits; allowed: 1 to 8");
  require(quantizer.iterations >= 0, given(quantizer.iterations) + " iterations; allowed: 0 or more");
  require(width >= 1 && values.size() % static_cast<size_t>(width) == 0,
          std::to_string(values.size()) + " values are no whole rows of " + given(width) + " channels");
  require(quantizer.group >= 1 && width % quantizer.group == 0,
          "groups of " + given(quantizer.group) + " channels do not divide a row of " + given(width));
  const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
  if (bad == values.end()) return;
  const auto at = bad - values.begin();
  throw Error(ErrorCode::kNonFinite, "value quantizer: channel " + std::to_string(at % width) + " of row " +
                                         std::to_string(at / width) + " is not a finite number");
}

// The groups of all rows; what is written are the scales, zeros and codes.
class Groups {
 public:
  Groups(std::span<const float> values, QuantizedValues& out, int bits)
      : values_(values), out_(out), largest_(static_cast<float>((1 << bits) - 1)) {}

  void set_scales() {
    for (size_t g = 0; g < out_.scale.size(); ++g) {
      const auto [low, high] = std::ranges::minmax(group(g));
      const float range = high - low;
      if (!std::isfinite(range)) {
        throw Error(ErrorCode::kNonFinite, "value quantizer: the values of group " + std::to_string(g) +
                                               " are further apart than the largest 32-bit float");
      }
      out_.scale[g] = range <= kFlatRange ? 1 : std::min(largest_ / range, kLargestScale);
      out_.zero[g] = -low * out_.scale[g];
    }
  }

  // One iteration; returns the mean |x - decoded| before it.
  float refine_zeros() {
    double error = 0;
    for (size_t g = 0; g < out_.scale.size(); ++g) {
      const float scale = out_.scale[g], zero = out_.zero[g];
      double sum = 0;
      for (float x : group(g)) {
        const float q = code(x, scale, zero), difference = x - (q - zero) / scale;
        error += std::abs(difference);
        sum += q - (x - shrink(difference)) * scale;
      }
      out_.zero[g] = static_cast<float>(sum / out_.group);
    }
    return static_cast<float>(error / static_cast<double>(values_.size()));
  }

  void set_codes() {
    for (size_t i = 0; i < values_.size(); ++i) {
      const size_t g = i / static_cast<size_t>(out_.group);
      out_.codes[i] = static_cast<uint8_t>(code(values_[i], out_.scale[g], out_.zero[g]));
    }
  }

 private:
  std::span<const float> group(size_t g) const {
    const auto channels = static_cast<size_t>(out_.group);
    return values_.subspan(g * channels, channels);
  }
  float code(float x, float scale, float zero) const {
    return std::clamp(std::nearbyint(x * scale + zero), 0.0f, largest_);
  }
  // The proximal step of |y|^p: small errors become 0, since their power is larger than they are.
  static float shrink(float y) {
    const float size = std::abs(y);
    return std::copysign(std::max(0.0f, size - std::pow(size, kPower - 1) / kBeta), y);
  }

  std::span<const float> values_;
  QuantizedValues& out_;
  float largest_;
};

}  // namespace

QuantizedValues quantize_values(std::span<const float> values, int width, const ValueQuantizer& quantizer) {
  check(values, width, quantizer);
  QuantizedValues out{};
  out.width = width;
  out.group = quantizer.group;
  const size_t groups = values.size() / static_cast<size_t>(quantizer.group);
  out.codes.resize(values.size());
  out.scale.resize(groups);
  out.zero.resize(groups);
  Groups all(values, out, quantizer.bits);
  all.set_scales();
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < quantizer.iterations && !values.empty(); ++i) {
    const float error = all.refine_zeros();
    out.mean_errors.push_back(error);
    if (!(error < least)) break;
    least = error;
  }
  all.set_codes();
  return out;
}

TokenErrors token_errors(std::span<const float> values, const QuantizedValues& quantized) {
  require(values.size() == quantized.codes.size(), "other values than those that were quantised");
  TokenErrors errors;
  const auto width = static_cast<size_t>(quantized.width);
  for (size_t first = 0; first < values.size(); first += width) {
    double squares = 0;
    for (size_t i = first; i < first + width; ++i) {
      const float difference = values[i] - quantized.decoded(i);
      squares += static_cast<double>(difference) * difference;
    }
    const auto [low, high] = std::ranges::minmax(values.subspan(first, width));
    errors.squared_error.push_back(squares / static_cast<double>(width));
    errors.range.push_back(static_cast<double>(high) - low);
  }
  return errors;
}

}  // namespace vase::eval
