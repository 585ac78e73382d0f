#include "eval/held_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "vase/error.h"

namespace vase::eval {
namespace {

// Which tokens one KV head holds while a text goes by.
class Held {
 public:
  // evictions: of any heads; those of this one are taken.
  Held(std::span<const EvictionRecord> evictions, int layer, int kv_head, int tokens) : mask_(tokens, 1) {
    for (const EvictionRecord& record : evictions) {
      if (record.layer == layer && record.kv_head == kv_head) mine_.push_back(&record);
    }
    std::ranges::sort(mine_, {}, [](const EvictionRecord* record) { return record->seen; });
  }

  // Call with growing positions. mask()[j] is then 1 for what the token at `position` attends to, itself included.
  void advance(int position) {
    for (; next_ < mine_.size() && mine_[next_]->seen <= position; ++next_) {
      const EvictionRecord& record = *mine_[next_];
      std::fill_n(mask_.begin(), record.seen, 0.0f);
      for (const int32_t kept : record.kept) mask_[kept] = 1;
    }
  }
  const std::vector<float>& mask() const { return mask_; }

 private:
  std::vector<const EvictionRecord*> mine_;
  std::vector<float> mask_;
  size_t next_ = 0;
};

// out[j] += softmax over j < tokens of q.k_j / sqrt(d), divided by the group.
void add_probabilities(const TextAttention& text, int kv_head, int position, int query_head, std::vector<float>& logits,
                       std::vector<float>& out) {
  const int group = text.query_heads / text.kv_heads, seen = position + 1;
  const float* query = &text.queries[(size_t(position) * text.query_heads + query_head) * text.head_dim];
  const float scale = 1 / std::sqrt(static_cast<float>(text.head_dim));
  std::fill_n(logits.begin(), seen, 0.0f);
  for (int c = 0; c < text.head_dim; ++c) {
    const float* row = &text.keys[(size_t(kv_head) * text.head_dim + c) * text.tokens];
    const float q = query[c] * scale;
    for (int j = 0; j < seen; ++j) logits[j] += q * row[j];
  }
  const float largest = *std::max_element(logits.begin(), logits.begin() + seen);
  float sum = 0;
  for (int j = 0; j < seen; ++j) sum += logits[j] = std::exp(logits[j] - largest);
  for (int j = 0; j < seen; ++j) out[j] += logits[j] / (sum * static_cast<float>(group));
}

// Of one position of one head, whose attention over the tokens seen is `mass`; orders `sorted` anew.
HeldShare share_of(std::span<const float> mass, const std::vector<float>& mask, std::vector<float>& sorted) {
  HeldShare share;
  double held = 0;
  for (size_t j = 0; j < mass.size(); ++j) {
    held += mask[j];
    share.attention += mask[j] * mass[j];
  }
  const auto count = static_cast<ptrdiff_t>(held);
  std::copy(mass.begin(), mass.end(), sorted.begin());
  const auto end = sorted.begin() + static_cast<ptrdiff_t>(mass.size());
  std::nth_element(sorted.begin(), sorted.begin() + std::min<ptrdiff_t>(count, end - sorted.begin() - 1), end,
                   std::greater<>());
  share.best = std::accumulate(sorted.begin(), sorted.begin() + count, 0.0);
  share.tokens = held / static_cast<double>(mass.size());
  return share;
}

void add_to(HeldShare& sum, const HeldShare& share) {
  sum.attention += share.attention;
  sum.best += share.best;
  sum.tokens += share.tokens;
}

HeldShare divided(const HeldShare& sum, double count) {
  if (count == 0) return {};
  return {sum.attention / count, sum.best / count, sum.tokens / count};
}

// Tokens seen at the first eviction of all.
int64_t first_of(std::span<const std::vector<EvictionRecord>> evictions, int tokens) {
  int64_t first = tokens;
  for (const auto& cell : evictions) {
    for (const EvictionRecord& record : cell) first = std::min(first, record.seen);
  }
  return first;
}

void require_inside(std::span<const std::vector<EvictionRecord>> evictions, int tokens) {
  for (const auto& cell : evictions) {
    for (const EvictionRecord& record : cell) {
      const bool inside = record.seen <= tokens && std::ranges::all_of(record.kept, [&](int32_t p) {
                            return p >= 0 && p < record.seen;
                          });
      if (inside) continue;
      throw Error(ErrorCode::kCorrupt, "eviction " + std::to_string(record.eviction) + " of layer " +
                                           std::to_string(record.layer) + " is not about this text of " +
                                           std::to_string(tokens) + " tokens");
    }
  }
}

}  // namespace

TextAttention TextAttention::sized(int query_heads, int kv_heads, int head_dim, int tokens) {
  TextAttention text{query_heads, kv_heads, head_dim, tokens, {}, {}};
  text.queries.resize(size_t(tokens) * query_heads * head_dim);
  text.keys.resize(size_t(tokens) * kv_heads * head_dim);
  return text;
}

uint64_t TextAttention::bytes_for(int query_heads, int kv_heads, int head_dim, int tokens) {
  return sizeof(float) * uint64_t(tokens) * (query_heads + kv_heads) * head_dim;
}

void TextAttention::put(int position, std::span<const float> some_queries, std::span<const float> some_keys) {
  std::ranges::copy(some_queries, queries.begin() + ptrdiff_t(position) * query_heads * head_dim);
  const size_t width = size_t(kv_heads) * head_dim;
  for (size_t i = 0; i < some_keys.size(); ++i) keys[i % width * tokens + position + i / width] = some_keys[i];
}

HeldStudy::HeldStudy(int layers, size_t cells) : layers_(layers), sums_(cells * layers) {}

void HeldStudy::add(int layer, const TextAttention& text, std::span<const std::vector<EvictionRecord>> evictions) {
  require_inside(evictions, text.tokens);
  const int group = text.query_heads / text.kv_heads;
  const auto first = static_cast<int>(first_of(evictions, text.tokens));
  std::vector<float> logits(text.tokens), sorted(text.tokens), mass(text.tokens);
  for (int head = 0; head < text.kv_heads; ++head) {
    std::vector<Held> cells;
    for (const auto& cell : evictions) cells.emplace_back(cell, layer, head, text.tokens);
    for (int position = first; position < text.tokens; ++position) {
      std::ranges::fill(mass, 0.0f);
      for (int g = 0; g < group; ++g) add_probabilities(text, head, position, head * group + g, logits, mass);
      for (size_t c = 0; c < cells.size(); ++c) {
        cells[c].advance(position);
        Sums& sums = sums_[c * layers_ + layer];
        add_to(sums.share, share_of(std::span(mass).first(position + 1), cells[c].mask(), sorted));
        ++sums.count;
      }
    }
  }
}

HeldShare HeldStudy::layer(size_t cell, int layer) const {
  const Sums& sums = sums_[cell * layers_ + layer];
  return divided(sums.share, sums.count);
}

HeldShare HeldStudy::all(size_t cell) const {
  HeldShare sum;
  for (int l = 0; l < layers_; ++l) add_to(sum, layer(cell, l));
  return divided(sum, layers_);
}

}  // namespace vase::eval
