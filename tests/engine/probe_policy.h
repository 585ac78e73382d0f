// A policy whose parts look at everything and remember what they saw: what the engine shows is what tests check.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "vase/policy.h"

namespace vase::test {

// A copy of one head's view, and the scores that it was given.
struct SeenHead {
  int budget = 0, buffer = 0, prompt_tokens = 0, group = 0, attention_rows = 0;
  int64_t seen = 0;
  std::vector<int32_t> positions, last_use, longest_gap;
  std::vector<float> attention, value_range, norm_product, log_weight;
  std::vector<std::vector<float>> keys, values;  // [n][head_dim]
  std::vector<std::vector<float>> queries;       // [count * group][head_dim]
  std::vector<float> frequencies;
  std::vector<float> scores;
  bool operator==(const SeenHead&) const = default;
};

// Everything that a policy has seen, by (layer, KV head, tokens seen).
struct ProbeLog {
  std::mutex mutex;
  std::map<std::tuple<int, int, int64_t>, SeenHead> heads;
};

inline std::vector<std::vector<float>> rows_of(const RowsView& view, int count) {
  std::vector<std::vector<float>> rows(count, std::vector<float>(view.width));
  for (int i = 0; i < count; ++i) read_row(view, i, rows[i].data());
  return rows;
}

// The same of a view that gives blocks.
inline std::vector<std::vector<float>> rows_of(RowBlocks& blocks, RowBlock (RowBlocks::*part)(int), int count) {
  std::vector<std::vector<float>> rows(count);
  for (int b = 0; b < blocks.count(); ++b) {
    const RowBlock block = (blocks.*part)(b);
    const auto own = rows_of(block.rows, static_cast<int>(block.index.size()));
    for (size_t r = 0; r < own.size(); ++r) rows.at(block.index[r]) = own[r];
  }
  return rows;
}

inline SeenHead copy_of(const HeadView& view) {
  SeenHead copy{.budget = view.budget, .buffer = view.buffer, .prompt_tokens = view.prompt_tokens, .group = view.group,
                .attention_rows = view.attention_rows, .seen = view.seen};
  copy.positions.assign(view.positions.begin(), view.positions.end());
  copy.last_use.assign(view.last_use.begin(), view.last_use.end());
  copy.longest_gap.assign(view.longest_gap.begin(), view.longest_gap.end());
  copy.attention.assign(view.attention.begin(), view.attention.end());
  copy.value_range.assign(view.value_range.begin(), view.value_range.end());
  copy.norm_product.assign(view.norm_product.begin(), view.norm_product.end());
  copy.log_weight.assign(view.log_weight.begin(), view.log_weight.end());
  if (view.blocks) {
    copy.keys = rows_of(*view.blocks, &RowBlocks::keys, view.slots());
    copy.values = rows_of(*view.blocks, &RowBlocks::values, view.slots());
  } else {
    copy.keys = rows_of(view.keys, view.slots());
    copy.values = rows_of(view.values, view.slots());
  }
  for (int w = 0; w < view.queries.count; ++w) {
    for (int g = 0; g < view.queries.group; ++g) {
      const auto row = view.queries.row(w, g);
      copy.queries.emplace_back(row.begin(), row.end());
    }
  }
  copy.frequencies.assign(view.rope.frequencies.begin(), view.rope.frequencies.end());
  return copy;
}

// Scores by what the engine keeps, with some chance, so that heads and evictions differ.
class ProbeScorer final : public Scorer {
 public:
  explicit ProbeScorer(PolicyNeeds needs, std::shared_ptr<ProbeLog> log) : needs_(needs), log_(std::move(log)) {}
  PolicyNeeds needs() const override { return needs_; }
  void score(const HeadView& head, RandomDraws& draws, PolicyScratch&, std::span<float> out) const override {
    draws.uniform(head.positions, out);
    for (size_t c = 0; c < out.size(); ++c) {
      if (!head.attention.empty()) out[c] += 3 * head.attention[c];
      if (!head.last_use.empty()) out[c] -= static_cast<float>(head.seen - head.last_use[c]) / 20;
    }
    SeenHead copy = copy_of(head);
    copy.scores.assign(out.begin(), out.end());
    const std::lock_guard lock(log_->mutex);
    log_->heads[{head.layer, head.kv_head, head.seen}] = std::move(copy);
  }
  std::string text() const override { return "probe"; }

 private:
  PolicyNeeds needs_;
  std::shared_ptr<ProbeLog> log_;
};

// The highest scores, smaller index first among equals. Each survivor's log-weight grows by 0.1 x (its position mod 4).
class ProbeSelector final : public Selector {
 public:
  explicit ProbeSelector(bool weigh) : weigh_(weigh) {}
  PolicyNeeds needs() const override { return {.log_weight = weigh_}; }
  void select(const HeadView& head, std::span<const float> scores, std::span<uint32_t> pool, bool, RandomDraws&,
              PolicyScratch& scratch, std::span<uint32_t> out) const override {
    std::ranges::sort(pool,
                      [&](uint32_t a, uint32_t b) { return std::tuple(-scores[a], a) < std::tuple(-scores[b], b); });
    std::copy_n(pool.begin(), out.size(), out.begin());
    for (size_t c = 0; weigh_ && c < scores.size(); ++c) {
      scratch.log_weight[c] = head.log_weight[c] + 0.1f * static_cast<float>(head.positions[c] % 4);
    }
  }
  std::string text() const override { return "probe"; }

 private:
  bool weigh_;
};

inline Policy probe_policy(PolicyNeeds needs, std::shared_ptr<ProbeLog> log, Share share = Share::kHead) {
  Policy policy({}, std::make_shared<ProbeScorer>(needs, std::move(log)),
                std::make_shared<ProbeSelector>(needs.log_weight));
  policy.share = share;
  return policy;
}

}  // namespace vase::test
