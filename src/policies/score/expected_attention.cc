// expected-attention - attention that queries to come are likely to give, times the size of the value (Expected
// Attention, arXiv 2510.00636, as in kvpress; docs/policies.md 4.12). Per query head, with mean mu and covariance Sigma
// of its newest queries before rotation, and R the average rotation over the next `future` positions (true ones, from
// the tokens seen on):
//   e_j = (R mu) . k_j / sqrt d + k_j^T R Sigma R^T k_j / (2 d),
//   s_j = (mean over the group of softmax_j e_j + epsilon) |v_j|_2.
// The covariance is never formed: k^T R Sigma R^T k = mean over queries of (k . R (q - mu))^2. Positions 0 to 3 have no
// part in the softmax, so their share is 0; protect them by sinks:4. A slot's log-weight is added to its e_j.
//   queries  newest tokens whose queries are used, 1 to 512, default 16
//   future   positions to come, 1 to 65536, default 512
//   epsilon  0 to 1, default 0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/leverage/leverage.h"
#include "kernels/query_scores/query_scores.h"
#include "kernels/row_distance/row_distance.h"
#include "policies/parts.h"
#include "policies/query_work.h"
#include "policies/rope_turns.h"

namespace vase {
namespace {

constexpr int kDefaultQueries = 16, kDefaultFuture = 512;
constexpr int kSinks = 4;

class ExpectedAttention final : public Scorer {
 public:
  ExpectedAttention(int queries, int future, double epsilon) : queries_(queries), future_(future), epsilon_(epsilon) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    const int queries = options.integer("queries", kDefaultQueries, 1, 512);
    const int future = options.integer("future", kDefaultFuture, 1, 65536);
    return std::make_shared<ExpectedAttention>(queries, future, options.real("epsilon", 0, 0, 1));
  }

  PolicyNeeds needs() const override { return {.rows = true, .rope = true, .queries = queries_}; }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override;

 private:
  void covariance_logits(const HeadView& head, const QueryWork& work, float* memory, float* means,
                         std::span<float> energy) const;
  void load_moments(const HeadView& head, int g, size_t padded, float* vectors, float* mean) const;

  int queries_, future_;
  double epsilon_;
};

std::string ExpectedAttention::text() const {
  std::string text = "expected-attention:queries=" + std::to_string(queries_) + ",future=" + std::to_string(future_);
  return epsilon_ == 0 ? text : text + ",epsilon=" + shortest(epsilon_);
}

// Subtracts the mean of the rows from them, and scales both: rows by `row_scale`, the mean by `mean_scale`.
void centre(int rows, size_t padded, double row_scale, double mean_scale, float* vectors, float* mean_row) {
  for (size_t c = 0; c < padded; ++c) {
    double sum = 0;
    for (int w = 0; w < rows; ++w) sum += vectors[w * padded + c];
    const double mean = rows > 0 ? sum / rows : 0;
    for (int w = 0; w < rows; ++w) {
      float& x = vectors[w * padded + c];
      x = static_cast<float>((x - mean) * row_scale);
    }
    mean_row[c] = static_cast<float>(mean * mean_scale);
  }
}

// The turned queries less their mean, [used][padded], and the turned mean, scaled so that e_j is the sum of the squares
// of k_j's products with the former, and its product with the latter.
void ExpectedAttention::load_moments(const HeadView& head, int g, size_t padded, float* vectors, float* mean) const {
  const int held = head.queries.count, used = std::min(queries_, held), width = head.keys.width;
  const int64_t oldest = head.seen - used;
  const auto row = [&](int w) { return std::span(vectors + w * padded, padded); };
  for (int w = 0; w < used; ++w) {
    std::fill(row(w).begin(), row(w).end(), 0.0f);
    const std::span<const float> query = head.queries.row(held - used + w, g);
    std::copy(query.begin(), query.end(), row(w).begin());
  }
  // Back from a query's own position and on to the mean of those to come, in one turn; the model's magnitude cancels.
  for (int f = 0; f < static_cast<int>(head.rope.frequencies.size()); ++f) {
    std::complex<double> factor =
        mean_turn(head.rope, f, head.seen, future_) * std::conj(turn_at(head.rope, f, oldest));
    const std::complex<double> back = std::conj(turn_at(head.rope, f, 1));
    for (int w = 0; w < used; ++w, factor *= back) turn_pair(head.rope, f, factor, row(w));
  }
  const double row_scale = 1 / std::sqrt(2.0 * width * std::max(used, 1)), mean_scale = 1 / std::sqrt(double(width));
  centre(used, padded, row_scale, mean_scale, vectors, mean);
}

// Writes vectors [count][padded] as columns of a matrix of `width` rows, one every `stride` floats.
void lay_columns(const float* vectors, int count, size_t padded, int width, size_t stride, float* matrix) {
  for (int c = 0; c < width; ++c) {
    for (int w = 0; w < count; ++w) matrix[c * stride + w] = vectors[w * padded + c];
  }
}

// The part of the logits that comes from the covariances, for all query heads, and the means, [group][padded]. The
// squares of the products with many vectors are the energy of a sketch, whose columns are the vectors; several heads
// pass over the keys together where their queries are few. energy: [C], lost.
void ExpectedAttention::covariance_logits(const HeadView& head, const QueryWork& work, float* memory, float* means,
                                          std::span<float> energy) const {
  const int used = std::min(queries_, head.queries.count), width = head.keys.width;
  const int columns = std::min(used, kernels::kMaxSketch),
            at_once = used == columns ? kernels::sketches_at_once(columns) : 1;
  float *const vectors = work.vectors(memory), *const sketch = work.chunk(memory);
  const std::span<const float> gaussian(sketch, size_t(width) * kernels::kMaxSketch + kernels::kSketchTail);
  for (int g = 0; g < head.group; g += at_once) {
    const int heads = std::min(at_once, head.group - g);
    float* const logits = work.logits(memory) + g * work.logits_row();
    for (int h = 0; h < heads; ++h) {
      load_moments(head, g + h, work.padded(), vectors, means + (g + h) * work.padded());
      lay_columns(vectors, columns, work.padded(), width, heads * columns, sketch + h * columns);
    }
    kernels::sketched_energies(kernels::Path::kFused, head.keys, gaussian, heads, columns, logits, energy.size(),
                               work.logits_row());
    for (int first = columns; first < used; first += columns) {
      const int more = std::min(columns, used - first);
      lay_columns(vectors + first * work.padded(), more, work.padded(), width, more, sketch);
      kernels::sketched_energy(kernels::Path::kFused, head.keys, gaussian, more, energy);
      for (size_t j = 0; j < energy.size(); ++j) logits[j] += energy[j];
    }
  }
}

// Adds the part that comes from the means, [group][padded], to the logits of all query heads, in one pass over the
// keys.
void add_mean_logits(const HeadView& head, const float* means, const QueryWork& work, float* memory) {
  float* const chunk = work.chunk(memory);
  for (int first = 0; first < head.candidates(); first += QueryWork::kChunk) {
    const int n = std::min(QueryWork::kChunk, head.candidates() - first);
    kernels::row_dots(kernels::Path::kFused, {means, head.group * work.padded()}, head.group,
                      kernels::rows_from(head.keys, first), n, chunk, QueryWork::kChunk);
    for (int g = 0; g < head.group; ++g) {
      float* const logits = work.logits(memory) + g * work.logits_row() + first;
      for (int j = 0; j < n; ++j) logits[j] += chunk[g * QueryWork::kChunk + j];
    }
  }
}

void ExpectedAttention::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  const QueryWork work(head, queries_);
  float* const memory = scratch.work.data();
  float* const means = work.vectors(memory) + std::min(queries_, head.queries.count) * work.padded();
  const auto logits_of = [&](int g) { return std::span(work.logits(memory) + g * work.logits_row(), out.size()); };
  covariance_logits(head, work, memory, means, out);
  add_mean_logits(head, means, work, memory);
  const auto shares = std::span(scratch.energy).first(out.size());
  std::fill(shares.begin(), shares.end(), 0.0f);
  for (int g = 0; g < head.group; ++g) {
    const std::span<float> logits = logits_of(g);
    for (size_t j = 0; j < out.size(); ++j) {
      if (!head.log_weight.empty()) logits[j] += head.log_weight[j];
      if (head.positions[j] < kSinks) logits[j] = -std::numeric_limits<float>::infinity();
    }
    kernels::add_softmax(kernels::Path::kFused, logits, shares);
  }
  std::fill(scratch.row.begin(), scratch.row.end(), 0.0f);
  kernels::row_distance(kernels::Path::kFused, head.values, scratch.row, out);  // from the origin: |v_j|
  const float group = static_cast<float>(head.group), epsilon = static_cast<float>(epsilon_);
  for (size_t j = 0; j < out.size(); ++j) out[j] *= shares[j] / group + epsilon;
}

constexpr PartInfo::Parameter kParameters[] = {
    {"queries", "16", "1 to 512 tokens", "newest tokens whose queries are used"},
    {"future", "512", "1 to 65536 positions", "positions to come over which the rotation is averaged"},
    {"epsilon", "0", "0 to 1", "added to the probability"},
};

}  // namespace

const PartEntry<Scorer> kExpectedAttentionPart = {
    "expected-attention", &ExpectedAttention::parse,
    "softmax(mu'.k / sqrt d + k' Sigma' k / 2d) |v|, mu' and Sigma' of the newest queries, turned to positions to come",
    "arXiv 2510.00636", kParameters};

}  // namespace vase
