// query-attention - probability that the newest few queries give to each candidate, computed at the eviction from
// stored queries (SnapKV, arXiv 2404.14469; R-KV's importance, arXiv 2505.24133; TOVA, arXiv 2401.06104;
// docs/policies.md 3.10):
//   p_wgj = softmax over the slots of `over` (q_w^g . k_j / sqrt d / temperature),
//   s_j   = reduce over w of group over g of p_wgj, then pooled along the candidates.
// A query gives nothing to slots that are newer than itself. A slot's log-weight is added to its logits.
//   queries      tokens whose queries are used, 1 to 1024, default 8
//   over         older (default): all slots but the newest `queries` | candidates | all: with a causal mask
//   group        mean (default) of the heads' probabilities | max: of the heads' logits, before the softmax
//   reduce       mean (default) | sum, over the queries
//   pool         none (default) | avg5: average over 5 neighbours | max7: largest of 7
//   divisor      of avg5: valid (default): neighbours that exist | fixed: always 5
//   temperature  logits are divided by it, 0.01 to 100, default 1
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/query_scores/query_scores.h"
#include "policies/parts.h"
#include "policies/query_work.h"
#include "policies/score/pooling.h"

namespace vase {
namespace {

enum class Over { kOlder, kCandidates, kAll };

constexpr std::array<std::string_view, 3> kOverNames = {"older", "candidates", "all"};
constexpr std::array<std::string_view, 2> kGroupNames = {"mean", "max"};
constexpr std::array<std::string_view, 2> kReduceNames = {"mean", "sum"};
constexpr std::array<std::string_view, 3> kPoolNames = {"none", "avg5", "max7"};
constexpr std::array<std::string_view, 2> kDivisorNames = {"valid", "fixed"};
constexpr int kDefaultQueries = 8, kMaxQueries = 1024;

struct Settings {
  int queries = kDefaultQueries;
  Over over = Over::kOlder;
  bool group_max = false;
  bool sum = false;
  Pool pool = Pool::kNone;
  kernels::Divisor divisor = kernels::Divisor::kValid;
  double temperature = 1;
};

class QueryAttention final : public Scorer {
 public:
  explicit QueryAttention(const Settings& settings) : set_(settings) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options);

  PolicyNeeds needs() const override { return {.rows = true, .queries = set_.queries}; }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch& scratch, std::span<float> out) const override;
  std::string text() const override;

 private:
  int slots_seen(const HeadView& head, int age) const;
  void logits_of(const HeadView& head, int w, int tokens, int slots, const QueryWork& work, float* memory) const;
  void add_shares(const HeadView& head, int age, const QueryWork& work, float* logits, std::span<float> sum) const;
  void finish_logits(const HeadView& head, int64_t position, std::span<float> logits) const;

  Settings set_;
};

std::shared_ptr<const Scorer> QueryAttention::parse(PartOptions& options) {
  Settings set;
  set.queries = options.integer("queries", kDefaultQueries, 1, kMaxQueries);
  set.over = Over(options.choice("over", 0, kOverNames));
  set.group_max = options.choice("group", 0, kGroupNames) == 1;
  set.sum = options.choice("reduce", 0, kReduceNames) == 1;
  set.pool = Pool(options.choice("pool", 0, kPoolNames));
  set.divisor = kernels::Divisor(options.choice("divisor", 0, kDivisorNames));
  set.temperature = options.real("temperature", 1, 0.01, 100);
  return std::make_shared<QueryAttention>(set);
}

std::string QueryAttention::text() const {
  std::string text = "query-attention:queries=" + std::to_string(set_.queries);
  if (set_.over != Over::kOlder) text += ",over=" + std::string(kOverNames[static_cast<size_t>(set_.over)]);
  if (set_.group_max) text += ",group=max";
  if (set_.sum) text += ",reduce=sum";
  if (set_.pool != Pool::kNone) text += ",pool=" + std::string(kPoolNames[static_cast<size_t>(set_.pool)]);
  if (set_.pool == Pool::kAverage5 && set_.divisor == kernels::Divisor::kFixed) text += ",divisor=fixed";
  if (set_.temperature != 1) text += ",temperature=" + shortest(set_.temperature);
  return text;
}

// Slots [0, n) that share the probability of the query of the token that is `age` tokens older than the newest. All
// candidates are among them; finish_logits() takes out those that are newer than the query.
int QueryAttention::slots_seen(const HeadView& head, int age) const {
  int buffered = 0;
  if (set_.over == Over::kOlder) buffered = head.buffer - std::min(set_.queries, head.queries.count);
  if (set_.over == Over::kAll) buffered = head.buffer - age;
  return head.candidates() + std::max(buffered, 0);
}

// Logits [token][g][j] of the `tokens` held tokens from the w-th on, for slots j < `slots`.
void QueryAttention::logits_of(const HeadView& head, int w, int tokens, int slots, const QueryWork& work,
                               float* memory) const {
  const int width = head.keys.width;
  const float scale = static_cast<float>(1 / (std::sqrt(static_cast<double>(width)) * set_.temperature));
  const int rows = tokens * head.group;
  float* const vectors = work.vectors(memory);
  for (int row = 0; row < rows; ++row) {
    const std::span<const float> query = head.queries.row(w + row / head.group, row % head.group);
    float* const vector = vectors + row * work.padded();
    std::fill_n(vector, work.padded(), 0.0f);
    std::transform(query.begin(), query.end(), vector, [&](float q) { return q * scale; });
  }
  kernels::row_dots(kernels::Path::kFused, {vectors, rows * work.padded()}, rows, head.keys, slots, work.logits(memory),
                    work.logits_row());
}

// Adds log-weights, and hides candidates that are newer than the query's token.
void QueryAttention::finish_logits(const HeadView& head, int64_t position, std::span<float> logits) const {
  if (!head.log_weight.empty()) {
    const float factor = static_cast<float>(1 / set_.temperature);
    for (int j = 0; j < head.candidates(); ++j) logits[j] += head.log_weight[j] * factor;
  }
  if (position >= head.seen - head.buffer - 1) return;  // a query of the buffer, or of the newest candidate
  for (int j = 0; j < head.candidates(); ++j) {
    if (head.positions[j] > position) logits[j] = -std::numeric_limits<float>::infinity();
  }
}

// into[j] <- max(into[j], from[j]); NaN in either stays.
void take_larger(std::span<const float> from, std::span<float> into) {
  for (size_t j = 0; j < into.size(); ++j) into[j] = from[j] < into[j] || std::isnan(into[j]) ? into[j] : from[j];
}

// Adds the probabilities that one token's queries give to the candidates; logits [g][j], which are lost.
void QueryAttention::add_shares(const HeadView& head, int age, const QueryWork& work, float* logits,
                                std::span<float> sum) const {
  const auto row = [&](int g) { return std::span(logits + g * work.logits_row(), slots_seen(head, age)); };
  for (int g = 0; g < head.group; ++g) finish_logits(head, head.seen - 1 - age, row(g));
  if (set_.group_max) {
    for (int g = 1; g < head.group; ++g) take_larger(row(g), row(0));
    kernels::add_softmax(kernels::Path::kFused, row(0), sum);
  } else {
    for (int g = 0; g < head.group; ++g) kernels::add_softmax(kernels::Path::kFused, row(g), sum);
  }
}

void QueryAttention::score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const {
  const QueryWork work(head, set_.queries);
  float* const memory = scratch.work.data();
  const auto sum = std::span(scratch.energy).first(out.size());
  std::fill(sum.begin(), sum.end(), 0.0f);
  const int held = head.queries.count, used = std::min(set_.queries, held);
  for (int w = held - used; w < held; w += work.tokens_at_once()) {
    const int tokens = std::min(work.tokens_at_once(), held - w);
    const int newest_age = held - w - tokens;  // of the batch; it sees the most slots
    logits_of(head, w, tokens, slots_seen(head, newest_age), work, memory);
    for (int t = 0; t < tokens; ++t) {
      float* const logits = work.logits(memory) + t * head.group * work.logits_row();
      add_shares(head, held - 1 - w - t, work, logits, sum);
    }
  }
  const float divisor = static_cast<float>((set_.group_max ? 1 : head.group) * (set_.sum ? 1 : std::max(used, 1)));
  for (float& s : sum) s /= divisor;
  pool_scores(set_.pool, sum, set_.divisor, out);
}

constexpr PartInfo::Parameter kParameters[] = {
    {"queries", "8", "1 to 1024 tokens", "newest tokens whose queries are used"},
    {"over", "older", "older, candidates, all", "slots that share a query's probability"},
    {"group", "mean", "mean, max", "mean of the heads' probabilities, or largest logit before the softmax"},
    {"reduce", "mean", "mean, sum", "over the queries"},
    {"pool", "none", "none, avg5, max7", "along the candidates"},
    {"divisor", "valid", "valid, fixed", "of avg5: neighbours that exist, or always 5"},
    {"temperature", "1", "0.01 to 100", "logits are divided by it"},
};

}  // namespace

const PartEntry<Scorer> kQueryAttentionPart = {"query-attention", &QueryAttention::parse,
                                               "probability that the newest queries give, computed at the eviction",
                                               "arXiv 2404.14469, 2505.24133, 2401.06104", kParameters};

}  // namespace vase
