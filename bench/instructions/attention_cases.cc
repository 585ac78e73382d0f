#include <cmath>
#include <memory>

#include "base/huge_buffer.h"
#include "base/store_row.h"
#include "instructions/counted_case.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase::bench {
namespace {

constexpr int kSlotsBefore = 1000;  // the last segment is not full

struct Shape {
  int group, head_dim, tokens;
  bool mass = false;
  RowType type = RowType::kF16;  // quantised: of older slots, beside rows of f16

  RowType own_type() const { return is_quantised(type) ? RowType::kF16 : type; }
  int own_before() const { return is_quantised(type) ? 0 : kSlotsBefore; }
};

// One KV head.
struct Attention {
  explicit Attention(const Shape& shape)
      : slots(shape.own_before() + shape.tokens),
        stride(row_bytes(shape.own_type(), shape.head_dim)),
        rows(2 * size_t(slots) * stride),
        queries(made_up_floats(size_t(shape.tokens) * shape.group * shape.head_dim, 2)),
        out(queries.size()),
        mass(kSlotsBefore) {
    const std::vector<float> values = made_up_floats(2 * size_t(slots) * shape.head_dim, 1);
    for (int i = 0; i < 2 * slots; ++i) {
      store_row(shape.own_type(), &values[size_t(i) * shape.head_dim], shape.head_dim, rows.data() + i * stride);
    }
    args.head_dim = shape.head_dim;
    args.group = shape.group;
    args.tokens = shape.tokens;
    args.slots_before = shape.own_before();
    args.scale = 1 / std::sqrt(static_cast<float>(shape.head_dim));
    args.q = queries.data();
    args.out = out.data();
    args.q_head_stride = args.out_head_stride = shape.head_dim;
    args.q_token_stride = args.out_token_stride = ptrdiff_t(shape.group) * shape.head_dim;
    args.k = {rows.data(), stride, shape.own_type(), shape.head_dim, nullptr};
    args.v = {rows.data() + size_t(slots) * stride, stride, shape.own_type(), shape.head_dim, nullptr};
    if (shape.mass) args.mass = {.sum = mass.data(), .candidates = kSlotsBefore};
    if (is_quantised(shape.type)) add_older(shape);
    scratch.resize(kernels::slot_attention_scratch(args));
  }

  void add_older(const Shape& shape) {
    const auto bits = shape.type == RowType::kQ8_0 ? kernels::CodeBits::k8 : kernels::CodeBits::k4;
    const size_t bytes =
        (kSlotsBefore + kernels::kStripSlots - 1) / kernels::kStripSlots * kernels::strip_bytes(bits, shape.head_dim);
    older = HugeBuffer(2 * bytes);
    args.older.slots = kSlotsBefore;
    args.older.k.strips = {older.data(), kernels::StripKind::kKeys, bits, shape.head_dim};
    args.older.v.strips = {older.data() + bytes, kernels::StripKind::kValues, bits, shape.head_dim};
    const std::vector<float> numbers = made_up_floats(size_t(kSlotsBefore) * shape.head_dim, 3);
    for (int i = 0; i < kSlotsBefore; ++i) {
      kernels::store_in_strips(args.older.k.strips, i, &numbers[size_t(i) * shape.head_dim]);
      kernels::store_in_strips(args.older.v.strips, i, &numbers[size_t(i) * shape.head_dim]);
    }
  }

  int slots;
  size_t stride;  // bytes
  HugeBuffer rows, older;
  std::vector<float> queries, out, mass, scratch;
  kernels::SlotAttentionArgs args;
};

CountedCase attention_case(const std::string& kind, const Shape& shape) {
  const std::string name = "attention_" + kind + "_group" + std::to_string(shape.group) + "_dim" +
                           std::to_string(shape.head_dim) + (shape.mass ? "_mass" : "") +
                           (shape.type == RowType::kF16 ? "" : "_" + std::string(row_type_name(shape.type)));
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
  cases.push_back(attention_case("decode", {8, 128, 1}));
  for (RowType type : {RowType::kBF16, RowType::kQ8_0, RowType::kQ4_0}) {
    cases.push_back(attention_case("decode", {4, 128, 1, false, type}));
  }
  cases.push_back(attention_case("prefill64", {4, 128, 64}));
  return cases;
}

}  // namespace vase::bench
