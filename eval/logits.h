// Sums over the logits of a vocabulary, a vector at a time: at 150,000 tokens they cost as much as a good part of the model.
#pragma once

#include <span>

namespace vase::eval {

// ln of the sum of exp(x). Relative error of the sum below 1e-6. Not for an empty span; NaN where a logit is NaN.
double log_sum_exp(std::span<const float> logits);

// KL(p || softmax(logits)) in nats, at least 0. log_p: ln p, as long as logits; normaliser: log_sum_exp(logits). Absolute error
// below 1e-6.
double kl_divergence(std::span<const float> log_p, std::span<const float> logits, double normaliser);

}  // namespace vase::eval
