#include "policies/test_head.h"

#include <cstring>

#include "base/half.h"
#include "kernels/value_range/value_range.h"

namespace vase {
namespace {

std::vector<float> normals(uint64_t seed, uint32_t stream, size_t count) {
  std::vector<float> out(count);
  PhiloxDraws(DrawKey{.seed = seed, .sequence = stream}).gaussian(false, out);
  return out;
}

std::vector<std::byte> store_rows(const std::vector<float>& rows, int head_dim, RowType type) {
  const size_t element = row_element_bytes(type), stride = padded_row(head_dim) * element;
  std::vector<std::byte> store(rows.size() / head_dim * stride);
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint16_t half = to_half(rows[i]);
    const void* from = type == RowType::kF32 ? static_cast<const void*>(&rows[i]) : &half;
    std::memcpy(store.data() + i / head_dim * stride + i % head_dim * element, from, element);
  }
  return store;
}

}  // namespace

TestHead::TestHead(const HeadShape& shape) {
  const int count = shape.candidates;
  const size_t numbers = static_cast<size_t>(count) * shape.head_dim;
  keys_ = store_rows(normals(shape.seed, 1, numbers), shape.head_dim, shape.type);
  values_ = store_rows(normals(shape.seed, 2, numbers), shape.head_dim, shape.type);
  slots_ = indices(count);
  std::vector<float> gap(count);
  attention.resize(count);
  value_range.resize(count);
  PhiloxDraws draws(DrawKey{.seed = shape.seed, .sequence = 3});
  draws.exponential(indices<int32_t>(count), attention);
  draws.uniform(indices<int32_t>(count), gap);
  for (int c = 0, next = 0; c < count; ++c) {
    positions.push_back(next);
    next += c < 8 ? 1 : 1 + static_cast<int>(3 * gap[c]);
  }
  view.budget = shape.budget;
  view.buffer = shape.buffer;
  view.prompt_tokens = shape.prompt;
  view.group = shape.group;
  view.attention_rows = shape.group * shape.buffer;
  const size_t stride = padded_row(shape.head_dim) * row_element_bytes(shape.type);
  view.keys = {.base = nullptr, .stride = stride, .type = shape.type, .width = shape.head_dim};
  view.values = view.keys;
  point_view_here();
  std::vector<float> row(shape.head_dim);
  for (int c = 0; c < count; ++c) {
    read_row(view.values, c, row.data());
    value_range[c] = kernels::value_magnitude(kernels::Magnitude::kRange, row);
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
  view.keys.base = keys_.data();
  view.values.base = values_.data();
  view.keys.slots = view.values.slots = slots_.data();
}

TestHead TestHead::reordered(const std::vector<uint32_t>& order) const {
  TestHead other;
  other.keys_ = keys_;
  other.values_ = values_;
  other.view = view;
  for (uint32_t c : order) {
    other.positions.push_back(positions[c]);
    other.attention.push_back(attention[c]);
    other.value_range.push_back(value_range[c]);
    other.slots_.push_back(slots_[c]);
  }
  other.point_view_here();
  return other;
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
