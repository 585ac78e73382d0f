// What a policy is shown at an eviction, against a plain account of the same tokens: rows, records of attention,
// queries and log-weights, for every record, period and chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/attention_driver.h"
#include "engine/probe_policy.h"
#include "support/stored_row.h"

namespace vase {
namespace {

using test::Driver;
using test::FakeModel;
using test::probe_policy;
using test::ProbeLog;
using test::SeenHead;
using test::stored;

constexpr int kTokens = 150, kBudget = 24, kBuffer = 8;

const std::vector<PolicyNeeds>& all_needs() {
  static const std::vector<PolicyNeeds> list = {
      {},
      {.attention = AttentionRecord::kWindowSum, .value_range = true},
      {.attention = AttentionRecord::kWindowSum, .temperature = 2.5f, .log_weight = true},
      {.attention = AttentionRecord::kWindowSquares, .log_weight = true},
      {.attention = AttentionRecord::kWindowMax, .norm_product = true, .queries = 3},
      {.attention = AttentionRecord::kWindowSum, .over_all = true},
      {.attention = AttentionRecord::kWindowSquares, .temperature = 0.5f, .over_all = true, .log_weight = true},
      {.attention = AttentionRecord::kLifetimeSum, .log_weight = true, .queries = 40},
      {.attention = AttentionRecord::kRecurrence, .threshold = 0.04f, .value_range = true, .log_weight = true},
  };
  return list;
}

struct RowTypes {
  RowType keys = RowType::kF32, values = RowType::kF32;
  bool quantised() const { return is_quantised(keys) || is_quantised(values); }
};
constexpr RowTypes kAllTypes[] = {{},
                                  {RowType::kQ8_0, RowType::kQ8_0},
                                  {RowType::kQ4_0, RowType::kQ4_0},
                                  {RowType::kQ8_0, RowType::kQ4_0}};

CacheOptions options(int period, bool stagger = true, RowTypes types = {}) {
  return {.budget = kBudget,
          .buffer = kBuffer,
          .period = period,
          .key_type = types.keys,
          .value_type = types.values,
          .stagger = stagger};
}

// Quantised rows are shown to those alone who ask for them, all at once or (here: with log-weights) in blocks.
PolicyNeeds with_rows(PolicyNeeds needs, RowTypes types) {
  (needs.log_weight ? needs.row_blocks : needs.rows) = types.quantised();
  return needs;
}

// One head's tokens as a plain list, with every record that there is.
class Account {
 public:
  // shape: of the cache. With quantised types it says how many tokens keep their first rows.
  Account(const FakeModel& fake, int layer, int kv_head, const CacheShape& shape)
      : fake_(fake), layer_(layer), kv_head_(kv_head), shape_(shape), needs_(shape.needs) {}

  static constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

  // As it came in, and as it is in an older slot.
  struct Row {
    std::vector<float> recent, older;
  };
  struct Token {
    int32_t position = 0, last_use = 0, longest_gap = 0;
    double lifetime = 0;
    float log_weight = 0;
    int32_t older_from = kNever;  // first position whose query meets the quantised rows
    Row key, value;
  };

  void add(int32_t position) {
    if (recent() == shape_.recent) quantise_all_but_buffer(position);
    tokens_.push_back({.position = position,
                       .last_use = position,
                       .key = stored_row(kernels::StripKind::kKeys, shape_.key_type, row(position, 1, 1)[0]),
                       .value = stored_row(kernels::StripKind::kValues, shape_.value_type, row(position, 2, 1)[0])});
    ++since_;
    const auto p = probabilities(position, tokens_.size(), 1);
    for (size_t s = 0; s < tokens_.size(); ++s) {
      double largest = 0;
      for (const auto& head : p) {
        tokens_[s].lifetime += head[s];
        largest = std::max(largest, head[s]);
      }
      if (largest < needs_.threshold) continue;
      tokens_[s].longest_gap = std::max(tokens_[s].longest_gap, position - tokens_[s].last_use);
      tokens_[s].last_use = position;
    }
  }

  void check(const SeenHead& seen) {
    const size_t n = tokens_.size(), candidates = n - kBuffer;
    ASSERT_EQ(seen.positions.size(), candidates);
    ASSERT_EQ(seen.keys.size(), n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(seen.keys[i], met(tokens_[i], tokens_[i].key, seen.seen)) << "key " << i;
      EXPECT_EQ(seen.values[i], met(tokens_[i], tokens_[i].value, seen.seen)) << "value " << i;
    }
    for (size_t c = 0; c < candidates; ++c) EXPECT_EQ(seen.positions[c], tokens_[c].position);
    EXPECT_EQ(seen.seen, tokens_.back().position + 1);
    EXPECT_EQ(seen.value_range.size(), needs_.value_range ? candidates : 0);
    EXPECT_EQ(seen.norm_product.size(), needs_.norm_product ? candidates : 0);
    check_queries(seen);
    check_attention(seen, candidates);
  }

  // What the head holds after the eviction; weights as the probe's selector sets them.
  void keep(const std::vector<int32_t>& positions, bool weigh) {
    std::vector<Token> kept;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      Token token = tokens_[i];
      if (!std::ranges::binary_search(positions, token.position)) continue;
      if (weigh && i + kBuffer < tokens_.size()) token.log_weight += 0.1f * static_cast<float>(token.position % 4);
      kept.push_back(token);
    }
    tokens_ = std::move(kept);
    since_ = 0;
    quantise_all_but_buffer(tokens_.back().position + 1);
  }

 private:
  // Tokens that are not quantised yet.
  int recent() const { return static_cast<int>(std::ranges::count(tokens_, kNever, &Token::older_from)); }
  // The oldest, as far as there are older slots.
  void quantise_all_but_buffer(int32_t next) {
    if (!shape_.two_parts()) return;
    const size_t older = std::min<size_t>(tokens_.size() - kBuffer, shape_.capacity - shape_.recent);
    for (size_t i = 0; i < older; ++i) tokens_[i].older_from = std::min(tokens_[i].older_from, next);
  }

  static Row stored_row(kernels::StripKind kind, RowType type, const std::vector<float>& x) {
    return {stored(kind, type, false, x), stored(kind, type, true, x)};
  }
  // As the query at a position meets them.
  static const std::vector<float>& met(const Token& token, const Row& row, int64_t at) {
    return at >= token.older_from ? row.older : row.recent;
  }

  // Rows of this head: `count` of them, of head_dim each.
  std::vector<std::vector<float>> row(int64_t position, int what, int count) const {
    const int d = fake_.shape.head_dim, all = what == 0 ? fake_.shape.query_heads : fake_.shape.kv_heads;
    const auto x = fake_.row(0, position, layer_, what, all * d);
    std::vector<std::vector<float>> rows;
    for (int i = 0; i < count; ++i) {
      const auto begin = x.begin() + (kv_head_ * count + i) * d;
      rows.emplace_back(begin, begin + d);
    }
    return rows;
  }

  // [group][n] probabilities of the first n tokens for the queries at a position.
  std::vector<std::vector<double>> probabilities(int64_t position, size_t n, double temperature) const {
    std::vector<std::vector<double>> all;
    for (const auto& q : row(position, 0, fake_.shape.group())) {
      std::vector<double> e(n);
      for (size_t s = 0; s < n; ++s) {
        const std::vector<float>& k = met(tokens_[s], tokens_[s].key, position);
        const double dot = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
        e[s] = std::exp((dot / std::sqrt(double(q.size())) + tokens_[s].log_weight) / temperature);
      }
      const double sum = std::accumulate(e.begin(), e.end(), 0.0);
      for (double& x : e) x /= sum;
      all.push_back(std::move(e));
    }
    return all;
  }

  void check_queries(const SeenHead& seen) const {
    const int group = fake_.shape.group();
    const int count = std::min<int>(needs_.queries, static_cast<int>(seen.seen));
    ASSERT_EQ(seen.queries.size(), static_cast<size_t>(count * group));
    for (int w = 0; w < count; ++w) {
      const auto want = row(seen.seen - count + w, 0, group);
      for (int g = 0; g < group; ++g) EXPECT_EQ(seen.queries[w * group + g], want[g]);
    }
  }

  void check_attention(const SeenHead& seen, size_t candidates) const {
    const bool recurrence = needs_.attention == AttentionRecord::kRecurrence;
    const bool number = needs_.attention != AttentionRecord::kNone && !recurrence;
    ASSERT_EQ(seen.attention.size(), number ? candidates : 0);
    ASSERT_EQ(seen.last_use.size(), recurrence ? candidates : 0);
    const int window = std::min<int>(kBuffer, since_);
    const bool windowed = number && needs_.attention != AttentionRecord::kLifetimeSum;
    EXPECT_EQ(seen.attention_rows, windowed ? window * fake_.shape.group() : 0);
    std::vector<double> want(candidates);
    for (int w = 0; windowed && w < window; ++w) {
      const size_t shared = needs_.over_all ? tokens_.size() - w : candidates;  // up to the query's own token
      for (const auto& p : probabilities(seen.seen - 1 - w, shared, needs_.temperature)) {
        for (size_t c = 0; c < candidates; ++c) {
          if (needs_.attention == AttentionRecord::kWindowMax) want[c] = std::max(want[c], p[c]);
          if (needs_.attention == AttentionRecord::kWindowSum) want[c] += p[c];
          if (needs_.attention == AttentionRecord::kWindowSquares) want[c] += p[c] * p[c];
        }
      }
    }
    for (size_t c = 0; c < candidates; ++c) {
      if (needs_.log_weight) {
        EXPECT_EQ(seen.log_weight[c], tokens_[c].log_weight);
      }
      if (number) {
        const double right = windowed ? want[c] : tokens_[c].lifetime;
        EXPECT_NEAR(seen.attention[c], right, 2e-5 * right + 1e-7);
      }
      if (!recurrence) continue;
      EXPECT_EQ(seen.last_use[c], tokens_[c].last_use);
      EXPECT_EQ(seen.longest_gap[c], tokens_[c].longest_gap);
    }
  }

  const FakeModel& fake_;
  int layer_, kv_head_;
  CacheShape shape_;
  PolicyNeeds needs_;
  std::vector<Token> tokens_;
  int since_ = 0;  // tokens since the last eviction
};

// Follows the second of two layers, whose second eviction comes early when they are staggered; returns its evictions.
int follow_second_layer(const PolicyNeeds& needs, const CacheOptions& cache) {
  const FakeModel fake;
  const auto log = std::make_shared<ProbeLog>();
  Driver driver(fake, probe_policy(needs, log), cache, {.threads = 1});
  Sequence s = driver.start(0, 0, 5);
  Account account(fake, 1, 1, driver.plan().cache);
  int evictions = 0;
  while (s.seen < kTokens) {
    account.add(static_cast<int32_t>(s.seen));
    driver.step({&s}, {1});
    if (driver.head(1, 0, 1).evictions() == evictions) continue;
    evictions = driver.head(1, 0, 1).evictions();
    const SeenHead& seen = log->heads.at({1, 1, s.seen});
    EXPECT_EQ(seen.prompt_tokens, 5);
    account.check(seen);
    account.keep(driver.kept(1, 0, 1), needs.log_weight);
  }
  return evictions;
}

TEST(HeadView, ShowsWhatTheHeadHolds) {
  for (const int period : {8, 3, 21}) {
    for (const bool stagger : {true, false}) {
      for (const PolicyNeeds& needs : all_needs()) {
        for (const RowTypes& types : kAllTypes) {
          SCOPED_TRACE("period " + std::to_string(period) + (stagger ? ", staggered" : "") + ", record " +
                       std::to_string(static_cast<int>(needs.attention)) + ", " +
                       row_types_name(types.keys, types.values));
          const int lead = stagger && period >= kBuffer ? period / 2 : 0;
          EXPECT_EQ(follow_second_layer(with_rows(needs, types), options(period, stagger, types)),
                    1 + (kTokens - kBudget - period + lead) / period);
        }
      }
    }
  }
}

// Log-weights take part in attention, not in the records alone: without them the outputs differ.
TEST(HeadView, LogWeightsWeighInAttention) {
  const FakeModel fake;
  std::vector<std::vector<float>> outputs;
  for (const bool weigh : {false, true}) {
    Driver driver(fake, probe_policy({.log_weight = weigh}, std::make_shared<ProbeLog>()), options(0), {.threads = 1});
    Sequence s = driver.start(0, 0, 1);
    driver.step({&s}, {kBudget + kBuffer});
    EXPECT_EQ(s.evictions, 1);
    outputs.push_back(driver.step({&s}, {1})[0]);
  }
  EXPECT_NE(outputs[0], outputs[1]);
}

struct Outcome {
  std::map<std::tuple<int, int, int64_t>, SeenHead> heads;
  std::vector<std::vector<int32_t>> kept;
  std::vector<float> outputs;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const PolicyNeeds& needs, Share share, const CacheOptions& cache, int chunk, int threads) {
  const FakeModel fake;
  const auto log = std::make_shared<ProbeLog>();
  Driver driver(fake, probe_policy(needs, log, share), cache, {.threads = threads, .chunk = 256});
  Sequence s = driver.start(0, 0, 30);
  Outcome result;
  while (s.seen < kTokens) {
    int n = std::min<int>(chunk, kTokens - static_cast<int>(s.seen));
    if (share != Share::kHead) n = driver.plan().attention.schedule.next_run(s, n).tokens;
    const auto out = driver.step({&s}, {n})[0];
    result.outputs.insert(result.outputs.end(), out.begin(), out.end());
  }
  driver.attention().rethrow_error();
  for (int layer = 0; layer < 2; ++layer) {
    for (int h = 0; h < 2; ++h) result.kept.push_back(driver.kept(layer, 0, h));
  }
  result.heads = log->heads;
  return result;
}

// Chunks of any size and any number of threads: every view, every kept set and every output has the same bits.
void expect_one_outcome(const PolicyNeeds& needs, Share share, const CacheOptions& cache) {
  const Outcome want = outcome(needs, share, cache, 1, 1);
  ASSERT_FALSE(want.heads.empty());
  for (const auto& [chunk, threads] : {std::pair{1, 3}, {7, 2}, {64, 1}, {256, 3}}) {
    EXPECT_TRUE(outcome(needs, share, cache, chunk, threads) == want) << chunk << " tokens, " << threads << " threads";
  }
}

TEST(HeadView, ChunksAndThreadsChangeNothing) {
  for (const Share share : {Share::kHead, Share::kLayer, Share::kModel}) {
    for (const int period : {8, 3, 21}) {
      for (const PolicyNeeds& needs : all_needs()) {
        if (share != Share::kHead && needs.log_weight) continue;  // log-weights belong to one head
        for (const RowTypes& types : {kAllTypes[0], kAllTypes[3]}) {
          SCOPED_TRACE("share " + std::to_string(static_cast<int>(share)) + ", period " + std::to_string(period) +
                       ", record " + std::to_string(static_cast<int>(needs.attention)) + ", " +
                       row_types_name(types.keys, types.values));
          expect_one_outcome(with_rows(needs, types), share, options(period, true, types));
        }
      }
    }
  }
}

}  // namespace
}  // namespace vase
