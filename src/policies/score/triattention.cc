// triattention - attention that the model's typical query gives over distances to come (TriAttention, arXiv 2604.04921;
// docs/policies.md 4.7). Per query head, with complex means over a calibration text of the pairs f of queries before
// rotation, Q_f = E[q_f] and E|q_f|, key z_f before rotation, offsets D = {1, 2, 4, ..., 65536}, t tokens seen,
// frequency w_f and magnitude c of the rotation:
//   s_j = mean over delta in D of sum_f c^2 |Q_f| |z_f| cos((t - pos_j + delta) w_f + arg(Q_f z_f*))
//       + sum_f c^2 (E|q_f| - |Q_f|) |z_f|,
// standardised over the candidates behind the prompt (standard deviation at least 1e-6), then the largest of the group.
// As the stored key is c z_f e^{i pos_j w_f}, the first sum is one product of the stored key with a vector of its head,
// and |z_f| needs no way back. Channels that are not rotated add E[q] . k. Meant to be used with share=model and
// protect=prompt: one set of tokens per KV head for all layers.
//   stats  file of the means (src/policies/tri_stats.h), made for the same model; must be given
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/query_scores/query_scores.h"
#include "policies/model_heads.h"
#include "policies/parts.h"
#include "policies/query_work.h"
#include "policies/rope_turns.h"
#include "policies/tri_stats.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr int kOffsets = 17;  // 2^0 .. 2^16
constexpr double kLeastDeviation = 1e-6;

class TriAttention final : public Scorer {
 public:
  TriAttention(std::string file, TriStats stats) : file_(std::move(file)), stats_(std::move(stats)) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    const std::string file = options.file("stats");
    return std::make_shared<TriAttention>(file, read_tri_stats(file));
  }

  PolicyNeeds needs() const override { return {.rows = true, .rope = true}; }
  void check(const ModelHeads& heads) const override;
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override { return "triattention:stats=" + file_; }

 private:
  void check_view(const HeadView& head) const;
  void load_vectors(const HeadView& head, size_t padded, float* products, float* weights) const;

  std::string file_;
  TriStats stats_;
};

void TriAttention::check(const ModelHeads& heads) const {
  if (same_heads(stats_.heads, heads)) return;
  throw Error(ErrorCode::kUsage, "TriAttention statistics '" + file_ + "' were made for a model with " +
                                     heads_text(stats_.heads) + "; this one has " + heads_text(heads) +
                                     "; make them with this model");
}

// The rotation is known only here.
void TriAttention::check_view(const HeadView& head) const {
  const ModelHeads& own = stats_.heads;
  if (head.layer < own.layers && head.kv_head < own.kv_heads && head.group == own.group &&
      head.keys.width == own.head_dim && static_cast<int>(head.rope.frequencies.size()) == stats_.pairs &&
      head.rope.adjacent == stats_.adjacent) {
    return;
  }
  throw Error(ErrorCode::kUsage, "TriAttention statistics '" + file_ + "' were made for a model with " +
                                     heads_text(own) + " and " + std::to_string(stats_.pairs) +
                                     (stats_.adjacent ? " adjacent" : " halved") +
                                     " pairs of channels; make them with this model");
}

// products [G][padded]: what the stored key is multiplied with; weights [G][padded_row(pairs)]: of its magnitudes.
void TriAttention::load_vectors(const HeadView& head, size_t padded, float* products, float* weights) const {
  const size_t padded_pairs = padded_row(stats_.pairs);
  const double magnitude = head.rope.magnitude;
  const auto query_head = [&](int g) { return head.kv_head * head.group + g; };
  std::fill_n(products, head.group * padded, 0.0f);
  std::fill_n(weights, head.group * padded_pairs, 0.0f);
  for (int g = 0; g < head.group; ++g) {
    const std::span<const float> mean = stats_.mean_of(head.layer, query_head(g));
    std::copy(mean.begin(), mean.end(), products + g * padded);
  }
  for (int f = 0; f < stats_.pairs; ++f) {
    std::complex<double> turn = 0;
    for (int i = 0; i < kOffsets; ++i) turn += turn_at(head.rope, f, head.seen + (int64_t{1} << i)) / double(kOffsets);
    const auto [first, second] = pair_channels(head.rope, f);
    for (int g = 0; g < head.group; ++g) {
      const std::span<float> product(products + g * padded, padded);
      const double length = std::hypot(double(product[first]), double(product[second]));
      const double spread = stats_.magnitude_of(head.layer, query_head(g))[f] - length;
      weights[g * padded_pairs + f] = static_cast<float>(magnitude * spread);
      turn_pair(head.rope, f, turn * magnitude, product);
    }
  }
}

// scores <- (scores - mean) / deviation over the candidates behind the prompt, or over all where there are none. Scores
// that are not finite have no part in it.
void standardise(const HeadView& head, std::span<float> scores) {
  const auto behind = [&](int32_t position) { return position >= head.prompt_tokens; };
  const bool all = std::none_of(head.positions.begin(), head.positions.end(), behind);
  double count = 0, sum = 0, squares = 0;
  const auto each = [&](const auto& add) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (std::isfinite(scores[j]) && (all || behind(head.positions[j]))) add(double(scores[j]));
    }
  };
  each([&](double x) { ++count, sum += x; });
  const double mean = count > 0 ? sum / count : 0;
  each([&](double x) { squares += (x - mean) * (x - mean); });
  const double deviation = std::max(kLeastDeviation, count > 0 ? std::sqrt(squares / count) : 0);
  for (float& x : scores) x = static_cast<float>((x - mean) / deviation);
}

void TriAttention::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  check_view(head);
  const QueryWork work(head, 0);
  float* const memory = scratch.work.data();
  float *const products = work.vectors(memory), *const weights = products + head.group * work.padded();
  load_vectors(head, work.padded(), products, weights);
  const std::span<const float> product_rows(products, head.group * work.padded());
  kernels::row_dots(kernels::Path::kFused, product_rows, head.group, head.keys, head.candidates(), work.logits(memory),
                    work.logits_row());

  constexpr int kChunk = QueryWork::kChunk;
  const int pairs = stats_.pairs, padded_pairs = padded_row(pairs);
  float *const magnitudes = work.chunk(memory), *const sums = magnitudes + kChunk * work.padded();
  const RowsView magnitude_rows{magnitudes, padded_pairs * sizeof(float), RowType::kF32, pairs, nullptr};
  for (int first = 0; first < head.candidates(); first += kChunk) {
    const int n = std::min(kChunk, head.candidates() - first);
    kernels::pair_magnitudes(kernels::Path::kFused, kernels::rows_from(head.keys, first), n, pairs, head.rope.adjacent,
                             magnitudes);
    kernels::row_dots(kernels::Path::kFused, {weights, size_t(head.group) * padded_pairs}, head.group, magnitude_rows,
                      n, sums, kChunk);
    for (int g = 0; g < head.group; ++g) {
      float* const scores = work.logits(memory) + g * work.logits_row() + first;
      for (int i = 0; i < n; ++i) scores[i] += sums[g * kChunk + i];
    }
  }
  for (int g = 0; g < head.group; ++g) {
    const std::span<float> scores(work.logits(memory) + g * work.logits_row(), out.size());
    standardise(head, scores);
    for (size_t j = 0; j < out.size(); ++j) out[j] = g == 0 ? scores[j] : std::max(out[j], scores[j]);
  }
}

constexpr PartInfo::Parameter kParameters[] = {
    {"stats", "", "a file made for this model", "means of the model's queries"},
};

}  // namespace

const PartEntry<Scorer> kTriAttentionPart = {"triattention", &TriAttention::parse,
                                             "attention of the model's typical query over distances to come",
                                             "arXiv 2604.04921", kParameters};

}  // namespace vase
