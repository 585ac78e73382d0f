#include <cmath>
#include <memory>

#include "base/half.h"
#include "base/huge_buffer.h"
#include "instructions/counted_case.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase::bench {
namespace {

constexpr int kSlotsBefore = 1000;  // the last segment is not full

struct Shape {
  int group, head_dim, tokens;
  bool mass;
};

// One KV head, f16 rows.
struct Attention {
  explicit Attention(const Shape& shape)
      : slots(kSlotsBefore + shape.tokens),
        row_bytes(size_t(shape.head_dim) * sizeof(uint16_t)),
        rows(2 * size_t(slots) * row_bytes),
        queries(made_up_floats(size_t(shape.tokens) * shape.group * shape.head_dim, 2)),
        out(queries.size()),
        mass(kSlotsBefore) {
    const std::vector<float> values = made_up_floats(rows.size() / sizeof(uint16_t), 1);
    auto* half = reinterpret_cast<uint16_t*>(rows.data());
    for (size_t i = 0; i < values.size(); ++i) half[i] = to_half(values[i]);
    args.head_dim = shape.head_dim;
    args.group = shape.group;
    args.tokens = shape.tokens;
    args.slots_before = kSlotsBefore;
    args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
    args.q = queries.data();
    args.out = out.data();
    args.q_head_stride = args.out_head_stride = shape.head_dim;
    args.q_token_stride = args.out_token_stride = ptrdiff_t(shape.group) * shape.head_dim;
    args.k = {rows.data(), row_bytes, RowType::kF16, shape.head_dim, nullptr};
    args.v = {rows.data() + size_t(slots) * row_bytes, row_bytes, RowType::kF16, shape.head_dim, nullptr};
    if (shape.mass) args.mass = {.sum = mass.data(), .candidates = kSlotsBefore};
    scratch.resize(kernels::slot_attention_scratch(args));
  }

  int slots;
  size_t row_bytes;
  HugeBuffer rows;
  std::vector<float> queries, out, mass, scratch;
  kernels::SlotAttentionArgs args;
};

CountedCase attention_case(const std::string& kind, const Shape& shape) {
  const std::string name = "attention_" + kind + "_group" + std::to_string(shape.group) + "_dim" +
                           std::to_string(shape.head_dim) + (shape.mass ? "_mass" : "");
  return {name, [shape]() -> std::function<void()> {
            const auto attention = std::make_shared<Attention>(shape);
            return [attention] {
              kernels::slot_attention(kernels::Path::kFused, attention->args, attention->scratch);
            };
          }};
}

}  // namespace

std::vector<CountedCase> attention_cases() {
  std::vector<CountedCase> cases;
  for (int group : {1, 4}) {
    for (int head_dim : {64, 128}) {
      for (bool mass : {false, true}) cases.push_back(attention_case("decode", {group, head_dim, 1, mass}));
    }
  }
  cases.push_back(attention_case("prefill64", {4, 128, 64, false}));
  return cases;
}

}  // namespace vase::bench
