// How far one distribution over tokens is from another.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace vase::test {

struct KlStatistics {
  double mean = 0, max = 0;  // nats, over rows
  double other_top = 0;      // share of rows whose most likely token differs
};

inline std::vector<double> log_softmax(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - top);
  std::vector<double> out(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) out[i] = logits[i] - top - std::log(sum);
  return out;
}

// KL(reference || other) of softmax(logits), row by row; both [rows][vocabulary].
inline KlStatistics kl_divergence(std::span<const float> reference, std::span<const float> other,
                                  size_t vocabulary) {
  KlStatistics result;
  const size_t rows = reference.size() / vocabulary;
  for (size_t r = 0; r < rows; ++r) {
    const auto p = log_softmax(reference.subspan(r * vocabulary, vocabulary));
    const auto q = log_softmax(other.subspan(r * vocabulary, vocabulary));
    double kl = 0;
    for (size_t i = 0; i < vocabulary; ++i) kl += std::exp(p[i]) * (p[i] - q[i]);
    result.mean += kl / double(rows);
    if (!(kl <= result.max)) result.max = kl;  // NaN sticks
    const auto best = [](const std::vector<double>& x) {
      return std::max_element(x.begin(), x.end()) - x.begin();
    };
    result.other_top += best(p) != best(q) ? 1.0 / double(rows) : 0.0;
  }
  return result;
}

}  // namespace vase::test
