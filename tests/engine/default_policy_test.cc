// The default, `vase` with rows of few bits, over many evictions of a model: logits and kept tokens against an account
// in plain lists that computes attention in double, notes its largest probabilities and asks the policy itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/philox_draws.h"
#include "kernels/value_range/value_range.h"
#include "model/key_offsets.h"
#include "model/rope.h"
#include "support/stored_row.h"
#include "support/teacher_forcing.h"
#include "support/tiny_gguf.h"
#include "vase/engine.h"

namespace vase {
namespace {

using test::TinyModel;
using test::TinyOptions;

constexpr int kBudget = 48, kBuffer = 16, kPrompt = 10, kText = 200;  // the period is the buffer
constexpr int kRecent = kBuffer + 8;                                  // docs/layouts.md, Quantised rows
constexpr uint64_t kSeed = 7;

struct Token {
  int32_t position;
  float norm_product;
  std::vector<float> key, value;  // as the next query meets them
  bool quantised = false;
  float log_weight = 0;
  float record = 0;  // largest probability since the last eviction
};

// What the heads of a model hold, one token per step.
class PlainVase final : public model::LayerAttention {
 public:
  PlainVase(const model::Weights& weights, const Rope& rope, RowType keys, RowType values)
      : h_(weights.hparams()), types_{keys, values}, offsets_(model::key_offsets(weights, rope)) {
    heads_.resize(size_t(h_.layers) * h_.kv_heads);
  }

  void attend(const model::LayerInputs& in) noexcept override {
    for (int kv = 0; kv < h_.kv_heads; ++kv) {
      const size_t index = size_t(in.layer) * h_.kv_heads + kv;
      Head& head = heads_[index];
      const auto exact = std::ranges::count(head.tokens, false, &Token::quantised);
      if (exact == kRecent) quantise_all_but_buffer(index);
      const auto row = [&](const float* x) { return std::vector<float>(x + kv * h_.head_dim, x + (kv + 1) * h_.head_dim); };
      append(head, row(in.k), row(in.v));
      for (int g = 0; g < h_.group(); ++g) {
        const size_t at = size_t(kv * h_.group() + g) * h_.head_dim;
        attend_one(head, in.layer, in.q + at, in.out + at);
      }
      if (static_cast<int>(head.tokens.size()) == slots_at_eviction(head, in.layer)) evict(index, in.layer, kv);
    }
  }

  // Positions that each eviction kept, [layer and KV head][eviction].
  std::vector<std::vector<int32_t>>& kept(int layer, int kv_head) { return heads_[layer * h_.kv_heads + kv_head].kept; }

 private:
  struct Head {
    std::vector<Token> tokens;
    std::vector<std::vector<int32_t>> kept;
    int32_t seen = 0;
  };

  // Layers take turns: the second eviction of one comes early.
  int slots_at_eviction(const Head& head, int layer) const {
    return kBudget + kBuffer - (head.kept.size() == 1 ? layer * kBuffer / h_.layers : 0);
  }

  void append(Head& head, const std::vector<float>& key, const std::vector<float>& value) {
    // A token that comes twice has equal products in the first layer but for last bits, so these are the cache's own.
    const auto norm = [](const std::vector<float>& row) { return kernels::value_magnitude(kernels::Magnitude::kL2, row); };
    head.tokens.push_back({.position = head.seen++,
                           .norm_product = norm(key) * norm(value),
                           .key = test::stored(kernels::StripKind::kKeys, types_[0], false, key),
                           .value = test::stored(kernels::StripKind::kValues, types_[1], false, value)});
  }

  void quantise_all_but_buffer(size_t index) {
    std::vector<Token>& tokens = heads_[index].tokens;
    for (size_t i = 0; i + kBuffer < tokens.size(); ++i) {
      Token& token = tokens[i];
      if (token.quantised) continue;
      token.quantised = true;
      add_offset(index, token, -1);
      token.key = test::quantised(kernels::StripKind::kKeys, types_[0], token.key);
      add_offset(index, token, 1);
      token.value = test::quantised(kernels::StripKind::kValues, types_[1], token.value);
    }
  }
  void add_offset(size_t index, Token& token, float factor) const {
    if (!offsets_.empty()) kernels::add_key_offset(offsets_[index], token.position, factor, token.key.data());
  }

  // Probabilities of the first `count` tokens.
  std::vector<double> probabilities(const Head& head, const float* q, size_t count) const {
    std::vector<double> p(count);
    for (size_t i = 0; i < count; ++i) {
      const Token& token = head.tokens[i];
      const double dot = std::inner_product(token.key.begin(), token.key.end(), q, 0.0);
      p[i] = std::exp(dot / std::sqrt(double(h_.head_dim)) + token.log_weight);
    }
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
    return p;
  }

  void attend_one(Head& head, int layer, const float* q, float* out) const {
    const std::vector<double> p = probabilities(head, q, head.tokens.size());
    std::vector<double> sum(h_.head_dim);
    for (size_t i = 0; i < p.size(); ++i) {
      for (int c = 0; c < h_.head_dim; ++c) sum[c] += p[i] * head.tokens[i].value[c];
    }
    std::ranges::transform(sum, out, [](double x) { return static_cast<float>(x); });
    const size_t candidates = slots_at_eviction(head, layer) - kBuffer;
    if (head.tokens.size() <= candidates) return;
    const std::vector<double> shared = probabilities(head, q, candidates);
    for (size_t i = 0; i < candidates; ++i) {
      head.tokens[i].record = std::max(head.tokens[i].record, static_cast<float>(shared[i]));
    }
  }

  template <class T>
  static std::vector<T> column(const std::vector<Token>& tokens, size_t count, T Token::*member) {
    std::vector<T> all;
    for (size_t i = 0; i < count; ++i) all.push_back(tokens[i].*member);
    return all;
  }

  void evict(size_t index, int layer, int kv_head) {
    Head& head = heads_[index];
    const size_t candidates = head.tokens.size() - kBuffer;
    const auto positions = column(head.tokens, candidates, &Token::position);
    const auto record = column(head.tokens, candidates, &Token::record);
    const auto norm_product = column(head.tokens, candidates, &Token::norm_product);
    const auto log_weight = column(head.tokens, candidates, &Token::log_weight);
    const auto since = static_cast<int>(head.tokens.size()) - (head.kept.empty() ? 0 : kBudget);
    PhiloxDraws draws({.seed = kSeed,
                       .layer = static_cast<uint32_t>(layer),
                       .head = static_cast<uint32_t>(kv_head),
                       .eviction = static_cast<uint32_t>(head.kept.size())});
    PolicyScratch scratch;
    std::vector<uint32_t> chosen(kBudget - kBuffer);
    policy_.plan({.budget = kBudget,
                  .buffer = kBuffer,
                  .prompt_tokens = kPrompt,
                  .group = h_.group(),
                  .layer = layer,
                  .kv_head = kv_head,
                  .seen = head.seen,
                  .positions = positions,
                  .attention = record,
                  .attention_rows = std::min(kBuffer, since) * h_.group(),
                  .norm_product = norm_product,
                  .log_weight = log_weight},
                 draws, scratch, chosen);
    std::vector<Token> after;
    for (const uint32_t c : chosen) {
      after.push_back(head.tokens[c]);
      after.back().log_weight = scratch.log_weight[c];
    }
    after.insert(after.end(), head.tokens.begin() + ptrdiff_t(candidates), head.tokens.end());
    for (Token& token : after) token.record = 0;
    head.tokens = std::move(after);
    head.kept.push_back(column(head.tokens, head.tokens.size(), &Token::position));
    quantise_all_but_buffer(index);
  }

  model::HParams h_;
  RowType types_[2];
  std::vector<kernels::KeyOffset> offsets_;  // [layer][KV head] or empty
  Policy policy_ = Policy::parse("vase");
  std::vector<Head> heads_;  // [layer][KV head]
};

struct Outcome {
  std::vector<float> logits;
  std::vector<EvictionRecord> evictions;
};

Outcome of_engine(const TinyModel& file, RowType keys, RowType values, std::span<const int32_t> text) {
  Engine engine(Model::load(file.path()), Policy::parse("vase"),
                {.budget = kBudget, .buffer = kBuffer, .key_type = keys, .value_type = values},
                {.threads = 2, .logit_rows = 16, .log_evictions = true});
  Outcome outcome;
  outcome.evictions = engine
                          .force(text, kPrompt, {.evict_seed = kSeed},
                                 [&](int64_t, std::span<const float> row) {
                                   outcome.logits.insert(outcome.logits.end(), row.begin(), row.end());
                                 })
                          .evictions;
  return outcome;
}

// Codes of four bits may differ by one where the last bits of a number do.
constexpr double kTolerance = 1e-3;  // of the largest logit

TEST(DefaultPolicy, EqualsAPlainAccount) {
  const auto text = test::tiny_text(kText);
  for (const char* family : {"llama", "qwen2"}) {
    const TinyModel file{TinyOptions{.family = family}};
    const auto weights = model::Weights::load(file.path());
    const model::RopeTable rope = model::rope_table(*weights);
    for (const auto& [keys, values] : {std::pair{RowType::kQ4_0, RowType::kQ4_0}, {RowType::kQ8_0, RowType::kQ4_0}}) {
      SCOPED_TRACE(std::string(family) + ", " + row_types_name(keys, values));
      PlainVase plain(*weights, rope.view(), keys, values);
      const std::vector<float> want = test::forced_logits(weights, plain, text, 1, 1);
      const Outcome got = of_engine(file, keys, values, text);
      ASSERT_EQ(got.evictions.size(), 2u * (9 + 10));  // 64, 80, ... and 64, 72, 88, ... of 200 tokens
      for (const EvictionRecord& e : got.evictions) {
        ASSERT_EQ(e.kept, plain.kept(e.layer, e.kv_head).at(e.eviction))
            << "layer " << e.layer << ", head " << e.kv_head << ", eviction " << e.eviction;
      }
      ASSERT_EQ(got.logits.size(), want.size());
      double largest = 0, difference = 0;
      for (size_t i = 0; i < want.size(); ++i) {
        largest = std::max(largest, std::abs(double(want[i])));
        difference = std::max(difference, std::abs(double(got.logits[i]) - want[i]));
      }
      EXPECT_LT(difference, kTolerance * largest);
    }
  }
}

}  // namespace
}  // namespace vase
