#include "engine/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/philox_draws.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr size_t kLanes = 16;  // independent partial results in loops that should vectorise

struct Candidate {
  float weight;  // proportional to the probability; the most probable token has 1
  int32_t token;
};

// The order of the filters: most probable first, ties to the lower id. Without branches: the outcome is a coin toss.
bool before(const Candidate& a, const Candidate& b) {
  return (a.weight > b.weight) | ((a.weight == b.weight) & (a.token < b.token));
}

// Rearranges `all` so that its first n elements are the first n in order, where n is the smallest count at which
// their sizes add up to `target` (all of them when they never do), and element n - 1 is the last of those in order.
// A quickselect that counts sizes instead of elements: linear time on average, no full sort.
template <typename Size>
size_t select_prefix(std::span<Candidate> all, double target, Size size) {
  constexpr size_t kSmall = 16;
  size_t low = 0, high = all.size();
  double sum = 0;  // sizes of all[0 .. low)
  while (high - low > kSmall) {
    std::array<Candidate, 3> sample = {all[low], all[low + (high - low) / 2], all[high - 1]};
    std::sort(sample.begin(), sample.end(), before);
    const Candidate pivot = sample[1];
    size_t middle = low;
    double front = 0;
    for (size_t i = low; i < high; ++i) {
      const bool is_front = before(all[i], pivot);
      front += is_front ? size(all[i]) : 0;
      std::swap(all[i], all[middle]);  // of two that stay behind the order does not matter
      middle += is_front;
    }
    if (sum + front >= target) {
      high = middle;
    } else {
      sum += front;
      low = middle;
    }
  }
  std::sort(all.begin() + low, all.begin() + high, before);
  while (low < high && (sum += size(all[low++])) < target) {
  }
  return low;
}

double weight_of(const Candidate& c) { return c.weight; }
double one(const Candidate&) { return 1; }

double mass_of(std::span<const Candidate> candidates) {
  double mass = 0;
  for (const Candidate& c : candidates) mass += c.weight;
  return mass;
}

// e^x for x <= 0, relative error below 2e-7. Plain additions and multiplications, so that every compiler and CPU
// gives the same bits, in a form that compilers vectorise. Below -87 the result is at most 2e-38.
float exp_nonpositive(float x) {
  x = x < -87.0f ? -87.0f : x;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // x - n ln 2 in two parts
  float p = 1.0f / 5040;
  for (const float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) p = p * r + c;
  return p * std::bit_cast<float>((std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound) + 127) << 23);
}

void check(bool ok, const char* name, const std::string& value, const char* allowed) {
  if (!ok) throw Error(ErrorCode::kUsage, std::string(name) + " is " + value + "; allowed: " + allowed);
}

void check(const SamplingOptions& o) {
  const auto text = [](float v) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", v);
    return std::string(buffer);
  };
  check(o.temperature == 0 || (o.temperature >= 1e-3f && o.temperature <= 100), "temperature", text(o.temperature),
        "0 (greedy), or 0.001 to 100");
  check(o.top_k >= 0, "top-k", std::to_string(o.top_k), "0 (off) or more");
  check(o.top_p > 0 && o.top_p <= 1, "top-p", text(o.top_p), "above 0, up to 1 (off)");
  check(o.min_p >= 0 && o.min_p <= 1, "min-p", text(o.min_p), "0 (off) to 1");
  check(o.repetition_penalty >= 0.01f && o.repetition_penalty <= 100, "repetition penalty", text(o.repetition_penalty),
        "0.01 to 100 (1 = off)");
  check(o.repetition_window >= 0 && o.repetition_window <= (1 << 20), "repetition window",
        std::to_string(o.repetition_window), "0 to 1048576 tokens");
}

}  // namespace

void require_numbers(std::span<const float> logits, uint64_t position) {
  int broken = 0, any = 0;  // int: vectorises, bool does not
  for (const float x : logits) {
    broken |= !(x < std::numeric_limits<float>::infinity());  // NaN compares false
    any |= x > -std::numeric_limits<float>::infinity();
  }
  if (!broken && any) return;
  throw Error(ErrorCode::kNonFinite, std::string("the model gave ") + (broken ? "NaN or infinite" : "only -infinite") +
                                         " logits for the token at position " + std::to_string(position));
}

struct Sampler::Impl {
  SamplingOptions options;
  std::vector<float> weights;         // [vocabulary] logits, then weights
  std::vector<Candidate> candidates;  // capacity: vocabulary
  std::vector<int32_t> recent;        // ring of the newest tokens
  std::vector<uint32_t> seen;         // [vocabulary] how often each token is in the ring; empty without a penalty
  size_t accepted = 0;

  void penalise();
  int32_t best() const;
  double weigh(float highest);
  double collect(float floor);
  bool enough(double mass, double total, double u) const;
  std::span<Candidate> filter(double total);
};

// Keskar et al. 2019 (CTRL): the logit of a token seen lately is divided by the penalty when positive, else multiplied.
void Sampler::Impl::penalise() {
  for (size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == 0 || std::isinf(weights[i])) continue;
    const float logit =
        weights[i] > 0 ? weights[i] / options.repetition_penalty : weights[i] * options.repetition_penalty;
    weights[i] = std::clamp(logit, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
  }
}

// The lowest id of those with the highest logit.
int32_t Sampler::Impl::best() const {
  std::array<float, kLanes> highest;
  highest.fill(-std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= weights.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) highest[lane] = std::max(highest[lane], weights[i + lane]);
  }
  for (; i < weights.size(); ++i) highest[0] = std::max(highest[0], weights[i]);
  const float top = *std::max_element(highest.begin(), highest.end());
  return static_cast<int32_t>(std::find(weights.begin(), weights.end(), top) - weights.begin());
}

// Logits -> weights relative to the highest; returns their sum. Partial sums per lane, so that it vectorises and still
// adds in one fixed order.
double Sampler::Impl::weigh(float highest) {
  for (float& w : weights) w = exp_nonpositive((w - highest) / options.temperature);
  std::array<double, kLanes> sums = {};
  size_t i = 0;
  for (; i + kLanes <= weights.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += weights[i + lane];
  }
  for (; i < weights.size(); ++i) sums[0] += weights[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Makes candidates of all tokens whose weight reaches the floor; returns their mass.
double Sampler::Impl::collect(float floor) {
  candidates.clear();
  double mass = 0;
  for (size_t begin = 0; begin < weights.size(); begin += kLanes) {
    const size_t end = std::min(begin + kLanes, weights.size());
    int any = 0;
    for (size_t i = begin; i < end; ++i) any |= weights[i] >= floor;
    for (size_t i = begin; any && i < end; ++i) {
      if (weights[i] < floor) continue;
      candidates.push_back({weights[i], static_cast<int32_t>(i)});
      mass += weights[i];
    }
  }
  return mass;
}

// Whether what the filters keep, as far as draw u reaches, lies within the candidates of this mass.
bool Sampler::Impl::enough(double mass, double total, double u) const {
  if (options.top_k > 0) return candidates.size() >= std::min<size_t>(options.top_k, weights.size());
  if (options.top_p < 1) return mass >= options.top_p * total;
  return options.min_p == 0 && mass >= u * total;
}

// The candidates that pass top-k, top-p and min-p, in no particular order. total: mass of the vocabulary.
std::span<Candidate> Sampler::Impl::filter(double total) {
  std::span<Candidate> kept = candidates;
  if (options.top_k > 0) {
    kept = kept.first(select_prefix(kept, options.top_k, one));
    total = mass_of(kept);
  }
  if (options.top_p < 1) kept = kept.first(select_prefix(kept, options.top_p * total, weight_of));
  if (options.min_p > 0) {
    const auto end =
        std::partition(kept.begin(), kept.end(), [&](const Candidate& c) { return c.weight >= options.min_p; });
    kept = kept.first(end - kept.begin());
  }
  return kept;
}

Sampler::Sampler(const SamplingOptions& options, int vocabulary) : impl_(std::make_unique<Impl>()) {
  check(options);
  check(vocabulary > 0, "vocabulary", std::to_string(vocabulary), "1 or more");
  impl_->options = options;
  impl_->weights.resize(vocabulary);
  impl_->candidates.reserve(vocabulary);
  if (options.repetition_penalty == 1 || options.repetition_window == 0) return;
  impl_->recent.resize(options.repetition_window);
  impl_->seen.resize(vocabulary);
}

Sampler::~Sampler() = default;

void Sampler::accept(int32_t token) {
  if (token < 0 || token >= static_cast<int64_t>(impl_->weights.size())) {
    throw Error(ErrorCode::kUsage, "token " + std::to_string(token) + " is outside of the vocabulary of " +
                                       std::to_string(impl_->weights.size()));
  }
  if (impl_->recent.empty()) return;
  const size_t at = impl_->accepted++ % impl_->recent.size();
  if (impl_->accepted > impl_->recent.size()) --impl_->seen[impl_->recent[at]];
  impl_->recent[at] = token;
  ++impl_->seen[token];
}

int32_t Sampler::sample(std::span<const float> logits, uint64_t position) {
  Impl& s = *impl_;
  if (logits.size() != s.weights.size()) {
    throw Error(ErrorCode::kUsage, std::to_string(logits.size()) + " logits for a vocabulary of " +
                                       std::to_string(s.weights.size()));
  }
  require_numbers(logits, position);
  std::ranges::copy(logits, s.weights.begin());
  s.penalise();
  const int32_t best = s.best();
  if (s.options.temperature == 0) return best;

  const double total = s.weigh(s.weights[best]);
  const double u = philox_uniform(s.options.seed, position);
  // Nearly always the few tokens above the first floor hold everything that matters; the last floor takes all.
  for (const float floor : {0x1p-16f, 0x1p-24f, 0x1p-32f, 0x1p-48f, 0.0f}) {
    if (s.enough(s.collect(floor), total, u)) break;
  }
  const std::span<Candidate> kept = s.filter(total);
  assert(!kept.empty());  // the most probable token passes every filter
  const bool filtered = s.options.top_k > 0 || s.options.top_p < 1 || s.options.min_p > 0;
  const double mass = filtered ? mass_of(kept) : total;
  return kept[select_prefix(kept, u * mass, weight_of) - 1].token;
}

}  // namespace vase
