#include "policies/select/sample.h"

#include <algorithm>
#include <cmath>

#include "kernels/weighted_draw/inclusion.h"
#include "kernels/weighted_draw/weighted_draw.h"
#include "policies/parts.h"

namespace vase {
namespace {

// out[c] = score + floor * mean for each candidate c of the pool; an infinite score stays what it is.
void add_floor(std::span<const float> scores, std::span<const uint32_t> pool, double floor, std::span<float> out) {
  const auto weight = [](float score) { return score > 0 ? score : 0.0f; };
  double sum = 0;
  for (uint32_t c : pool) sum += std::isfinite(scores[c]) ? weight(scores[c]) : 0.0f;
  const double lift = floor * sum / static_cast<double>(pool.size());
  for (uint32_t c : pool) out[c] = static_cast<float>(weight(scores[c]) + lift);
}

}  // namespace

std::shared_ptr<const Selector> Sample::parse(PartOptions& options) {
  const double floor = options.real("floor", 0, 0, 1000);
  const bool weights = options.on_off("weights", false);
  return std::make_shared<Sample>(floor, weights, weights ? options.real("cap", kDefaultCap, 0, 30) : kDefaultCap);
}

void Sample::select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool ordered,
                    RandomDraws& draws, PolicyScratch& scratch, std::span<uint32_t> out) const {
  const auto exponentials = std::span(scratch.draws).first(head.candidates());
  draws.exponential(head.positions, exponentials);
  std::span<const float> weights = scores;
  if (floor_ > 0) {
    add_floor(scores, pool, floor_, scratch.energy);
    weights = std::span(scratch.energy).first(scores.size());
  }
  scratch.weightless_draws += kernels::weighted_draw(weights, exponentials, head.positions, pool,
                                                     static_cast<int>(out.size()), ordered, scratch.keys);
  std::copy_n(pool.begin(), out.size(), out.begin());
  if (weights_) carry_weights(weights, pool, out, scratch);
}

// With no more positive weights than places, all of those are sure to be drawn, and the others share what is left. A
// weight of infinity is sure, too.
void Sample::carry_weights(std::span<const float> weights, std::span<const uint32_t> pool,
                           std::span<const uint32_t> drawn, PolicyScratch& scratch) const {
  const auto finite = [&](uint32_t c) { return weights[c] > 0 && std::isfinite(weights[c]); };
  const auto gather = [&](std::span<const uint32_t> from) {
    size_t found = 0;
    for (uint32_t c : from) {
      if (finite(c)) scratch.draws[found++] = weights[c];
    }
    return std::span(scratch.draws).first(found);
  };
  const auto carry = [&](uint32_t c, double cost) {
    scratch.log_weight[c] = static_cast<float>(std::min(scratch.log_weight[c] + cost, cap_));
  };
  const auto positive = std::count_if(pool.begin(), pool.end(), [&](uint32_t c) { return weights[c] > 0; });
  const std::span<const float> contenders = gather(pool);
  const auto places = std::ssize(drawn) - (positive - std::ssize(contenders));
  const bool by_weight = places > 0 && positive > std::ssize(drawn);
  const double log_time = by_weight ? kernels::log_inclusion_time(contenders, static_cast<int>(places)) : 0;
  const std::span<float> costs = gather(drawn);
  if (by_weight) kernels::inclusion_costs(log_time, costs);
  const double filler_cost =
      -std::log(static_cast<double>(std::ssize(drawn) - positive) / static_cast<double>(std::ssize(pool) - positive));
  size_t next = 0;
  for (uint32_t c : drawn) {
    if (finite(c)) {
      carry(c, by_weight ? costs[next] : 0);
      ++next;
    } else {
      carry(c, weights[c] > 0 ? 0 : filler_cost);
    }
  }
}

std::string Sample::text() const {
  std::string text;
  if (floor_ > 0) text += ",floor=" + shortest(floor_);
  if (weights_) text += ",weights=on";
  if (weights_ && cap_ != kDefaultCap) text += ",cap=" + shortest(cap_);
  if (!text.empty()) text[0] = ':';
  return "sample" + text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"floor", "0", "0 to 1000", "f: the weight is the score + f times the mean score"},
    {"weights", "off", "on, off", "survivors carry a log-weight for those that the draw passed over"},
    {"cap", "3", "0 to 30", "largest log-weight"},
};

}  // namespace

const PartEntry<Selector> kSamplePart = {"sample", &Sample::parse,
                                         "weighted draw without replacement, the scores being the weights",
                                         "arXiv 2606.03928", kParameters};

}  // namespace vase
