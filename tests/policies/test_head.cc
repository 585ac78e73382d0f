#include "policies/test_head.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/store_row.h"
#include "kernels/value_range/value_range.h"

namespace vase {
namespace {

std::vector<float> normals(uint64_t seed, uint32_t stream, size_t count) {
  std::vector<float> out(count);
  PhiloxDraws(DrawKey{.seed = seed, .sequence = stream}).gaussian(false, out);
  return out;
}

std::vector<std::byte> stored(const std::vector<float>& rows, int head_dim, RowType type) {
  const size_t count = rows.size() / head_dim, stride = row_bytes(type, head_dim);
  std::vector<std::byte> bytes(count * stride);
  for (size_t i = 0; i < count; ++i) store_row(type, &rows[i * head_dim], head_dim, &bytes[i * stride]);
  return bytes;
}

}  // namespace

TestHead::TestHead(const HeadShape& shape) {
  const int count = shape.candidates;
  const size_t numbers = static_cast<size_t>(count + shape.buffer) * shape.head_dim;
  keys_ = stored(normals(shape.seed, 1, numbers), shape.head_dim, shape.type);
  values_ = stored(normals(shape.seed, 2, numbers), shape.head_dim, shape.type);
  queries_ = normals(shape.seed, 4, static_cast<size_t>(kQueries) * shape.group * shape.head_dim);
  for (int f = 0; f < shape.head_dim / 2; ++f) frequencies_.push_back(std::pow(10000.0f, -2.0f * f / shape.head_dim));
  slots_ = indices(count + shape.buffer);
  std::vector<float> gap(count);
  attention.resize(count);
  value_range.resize(count);
  norm_product.resize(count);
  PhiloxDraws draws(DrawKey{.seed = shape.seed, .sequence = 3});
  draws.exponential(indices<int32_t>(count), attention);
  draws.uniform(indices<int32_t>(count), gap);
  for (int c = 0, next = 0; c < count; ++c) {
    positions.push_back(next);
    next += c < 8 ? 1 : 1 + static_cast<int>(3 * gap[c]);
    log_weight.push_back(gap[c]);
    longest_gap.push_back(static_cast<int>(40 * gap[c]));  // 0 for some: never used again
    last_use.push_back(positions[c] + longest_gap[c]);
    view.seen = next + shape.buffer;
  }
  view.budget = shape.budget;
  view.buffer = shape.buffer;
  view.prompt_tokens = shape.prompt;
  view.group = shape.group;
  view.attention_rows = shape.group * shape.buffer;
  const size_t stride = row_bytes(shape.type, shape.head_dim);
  view.keys = {.base = nullptr, .stride = stride, .type = shape.type, .width = shape.head_dim};
  view.values = view.keys;
  view.queries = {.capacity = kQueries, .first = 17, .count = kQueries, .group = shape.group, .width = shape.head_dim};
  point_view_here();
  std::vector<float> row(shape.head_dim);
  for (int c = 0; c < count; ++c) {
    read_row(view.values, c, row.data());
    value_range[c] = kernels::value_magnitude(kernels::Magnitude::kRange, row);
    norm_product[c] = kernels::value_magnitude(kernels::Magnitude::kL2, row);
    read_row(view.keys, c, row.data());
    norm_product[c] *= kernels::value_magnitude(kernels::Magnitude::kL2, row);
  }
  if (!shape.shuffled) return;
  std::vector<uint32_t> order = indices(count);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return gap[a] < gap[b]; });
  *this = reordered(order);
}

void TestHead::point_view_here() {
  view.positions = positions;
  view.attention = attention;
  view.value_range = value_range;
  view.norm_product = norm_product;
  view.log_weight = log_weight;
  view.last_use = last_use;
  view.longest_gap = longest_gap;
  view.queries.base = queries_.data();
  view.rope.frequencies = frequencies_;
  view.keys.base = keys_.data();
  view.values.base = values_.data();
  view.keys.slots = view.values.slots = slots_.data();
}

void TestHead::set_keys(const std::vector<float>& rows) {
  keys_ = stored(rows, view.keys.width, view.keys.type);
  point_view_here();
}

void TestHead::set_values(const std::vector<float>& rows) {
  values_ = stored(rows, view.values.width, view.values.type);
  point_view_here();
}

TestHead TestHead::reordered(const std::vector<uint32_t>& order) const {
  TestHead other;
  other.keys_ = keys_;
  other.values_ = values_;
  other.queries_ = queries_;
  other.frequencies_ = frequencies_;
  other.view = view;
  for (uint32_t c : order) {
    other.positions.push_back(positions[c]);
    other.attention.push_back(attention[c]);
    other.value_range.push_back(value_range[c]);
    other.norm_product.push_back(norm_product[c]);
    other.log_weight.push_back(log_weight[c]);
    other.last_use.push_back(last_use[c]);
    other.longest_gap.push_back(longest_gap[c]);
    other.slots_.push_back(slots_[c]);
  }
  other.slots_.insert(other.slots_.end(), slots_.begin() + positions.size(), slots_.end());
  other.point_view_here();
  return other;
}

HeadView TestHead::view_for(const PolicyNeeds& needs) {
  HeadView shown = view;
  record_ = attention;
  const float rows = static_cast<float>(view.attention_rows);
  for (float& p : record_) {  // as if all rows gave the same
    if (needs.attention == AttentionRecord::kWindowSquares) p *= p / rows;
    if (needs.attention == AttentionRecord::kWindowMax) p /= rows;
  }
  const bool recurrence = needs.attention == AttentionRecord::kRecurrence;
  shown.attention = record_;
  if (recurrence || needs.attention == AttentionRecord::kNone) shown.attention = {}, shown.attention_rows = 0;
  if (!recurrence) shown.last_use = shown.longest_gap = {};
  if (!needs.value_range) shown.value_range = {};
  if (!needs.norm_product) shown.norm_product = {};
  if (!needs.log_weight) shown.log_weight = {};
  if (!needs.rope) shown.rope = {};
  if (needs.queries == 0) {
    shown.queries = {};
    return shown;
  }
  asked_queries_.assign(queries_.size(), std::numeric_limits<float>::quiet_NaN());
  shown.queries.count = std::min(needs.queries, kQueries);
  shown.queries.first = (view.queries.first + kQueries - shown.queries.count) % kQueries;
  shown.queries.base = asked_queries_.data();
  for (int w = 0; w < shown.queries.count; ++w) {
    for (int g = 0; g < view.group; ++g) {
      const std::span<const float> to = shown.queries.row(w, g);
      const std::span<const float> from = view.queries.row(kQueries - shown.queries.count + w, g);
      std::copy(from.begin(), from.end(), asked_queries_.begin() + (to.data() - asked_queries_.data()));
    }
  }
  return shown;
}

std::vector<uint32_t> plan_of(const Policy& policy, const HeadView& view, const DrawKey& key) {
  PhiloxDraws draws(key);
  PolicyScratch scratch;
  std::vector<uint32_t> kept(view.keep());
  policy.plan(view, draws, scratch, kept);
  return kept;
}

std::vector<uint32_t> plan_of(const std::string& text, const HeadView& view, const DrawKey& key) {
  return plan_of(Policy::parse(text), view, key);
}

std::set<int> positions_of(const std::vector<uint32_t>& kept, const HeadView& view) {
  std::set<int> positions;
  for (uint32_t c : kept) positions.insert(view.positions[c]);
  return positions;
}

}  // namespace vase
