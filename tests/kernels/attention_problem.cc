#include "kernels/attention_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "base/store_row.h"

namespace vase::kernels {
namespace {

constexpr int kFreeRows = 40;  // behind the last slot used
constexpr int kGuard = 24;     // floats around outputs
constexpr float kSentinel = 1234.5f;
constexpr int32_t kIntSentinel = -77;
constexpr int32_t kRunPosition = 5000;  // of the run's first token

// Bytes that a row's base and stride must be multiples of: those of an element.
size_t alignment(RowType type) { return row_bytes(type, 16) / 16; }

}  // namespace

std::string ProblemShape::describe() const {
  std::ostringstream s;
  s << "head_dim " << head_dim << ", group " << group << ", tokens " << tokens << ", slots_before "
    << slots_before << ", keys " << row_type_name(k_type) << ", values " << row_type_name(v_type)
    << (strided ? ", strided" : "") << (misaligned ? ", misaligned" : "")
    << (log_weight ? ", log-weight" : "");
  if (older > 0) {
    const auto bits = [](bool in_strips, CodeBits b) {
      return !in_strips ? "rows" : b == CodeBits::k8 ? "8 bits" : "4 bits";
    };
    s << ", older " << older << " of " << bits(older_keys_in_strips, older_key_bits) << " and "
      << bits(older_values_in_strips, older_value_bits) << ", offset of " << offset_pairs << " pairs";
  }
  if (mass) {
    s << ", mass of form " << static_cast<int>(form) << " over " << candidates << " from token " << first_token
      << " at " << temperature;
  }
  return s.str();
}

AttentionProblem::AttentionProblem(const ProblemShape& shape)
    : shape_(shape),
      keys_(shape, shape.k_type, shape.slots_before + shape.tokens, shape.seed),
      values_(shape, shape.v_type, shape.slots_before + shape.tokens, shape.seed + 1000) {
  const int d = shape.head_dim, slots = shape.slots_before + shape.tokens;
  std::mt19937 random(shape.seed + 2000);
  std::normal_distribution<float> normal;
  args_.q_head_stride = d + 3;
  args_.q_token_stride = shape.group * args_.q_head_stride + 5;
  queries_.assign(shape.tokens * args_.q_token_stride, std::numeric_limits<float>::quiet_NaN());
  for (int t = 0; t < shape.tokens; ++t) {
    for (int g = 0; g < shape.group; ++g) {
      for (int i = 0; i < d; ++i)
        queries_[t * args_.q_token_stride + g * args_.q_head_stride + i] = normal(random);
    }
  }
  if (shape.log_weight) {
    log_weights_.resize(slots);
    for (float& w : log_weights_) w = std::fabs(normal(random));
  }
  args_.head_dim = d;
  args_.group = shape.group;
  args_.tokens = shape.tokens;
  args_.slots_before = shape.slots_before;
  args_.scale = 1 / std::sqrt(static_cast<float>(d));
  args_.q = queries_.data();
  args_.k = keys_.view(d);
  args_.v = values_.view(d);
  args_.log_weight = shape.log_weight ? log_weights_.data() : nullptr;
  args_.out_head_stride = d + 2;
  args_.out_token_stride = shape.group * args_.out_head_stride + 1;
  args_.mass.candidates = shape.candidates;
  args_.mass.first_token = shape.first_token;
  args_.mass.temperature = shape.temperature;
  args_.mass.form = shape.form;
  args_.mass.threshold = shape.threshold;
  args_.mass.position = kRunPosition;
  if (shape.older > 0) add_older(shape);
}

void AttentionProblem::add_older(const ProblemShape& shape) {
  const int d = shape.head_dim;
  args_.older.slots = shape.older;
  if (shape.older_keys_in_strips) {
    older_keys_ =
        std::make_unique<StoredStrips>(StripKind::kKeys, shape.older_key_bits, d, shape.older, shape.seed + 3000);
    args_.older.k.strips = older_keys_->strips;
  } else {
    older_key_rows_ = std::make_unique<StoredRows>(shape, shape.k_type, shape.older, shape.seed + 3000);
    args_.older.k.rows = older_key_rows_->view(d);
  }
  if (shape.older_values_in_strips) {
    older_values_ =
        std::make_unique<StoredStrips>(StripKind::kValues, shape.older_value_bits, d, shape.older, shape.seed + 4000);
    args_.older.v.strips = older_values_->strips;
  } else {
    older_value_rows_ = std::make_unique<StoredRows>(shape, shape.v_type, shape.older, shape.seed + 4000);
    args_.older.v.rows = older_value_rows_->view(d);
  }
  if (shape.offset_pairs > 0) add_key_offset(shape);
  if (!shape.log_weight) return;
  std::mt19937 random(shape.seed + 5000);
  std::normal_distribution<float> normal;
  for (int s = 0; s < shape.older; ++s) older_log_weights_.push_back(std::fabs(normal(random)));
  args_.older.log_weight = older_log_weights_.data();
}

// A constant part far larger than what varies, as in models with a key bias, at positions in no order.
void AttentionProblem::add_key_offset(const ProblemShape& shape) {
  std::mt19937 random(shape.seed + 6000);
  std::normal_distribution<float> normal;
  std::vector<float> bias(shape.head_dim), frequencies;
  for (float& x : bias) x = 10 * normal(random);
  const int pairs = shape.head_dim / 2 - 1;  // the last two channels do not turn
  for (int f = 0; f < pairs; ++f)
    frequencies.push_back(std::pow(1e6f, -static_cast<float>(f) / static_cast<float>(pairs)));
  key_offset_ = key_offset(bias, {.frequencies = frequencies}, shape.offset_pairs);
  for (int s = 0; s < shape.older; ++s) older_positions_.push_back(static_cast<int32_t>(random() % 1000000));
  args_.older.key_offset = &key_offset_;
  args_.older.positions = older_positions_.data();
}

AttentionProblem::StoredStrips::StoredStrips(StripKind kind, CodeBits bits, int head_dim, int slots, uint32_t seed)
    : bytes((slots + kStripSlots - 1) / kStripSlots * strip_bytes(bits, head_dim), std::byte{0xff}),
      strips{bytes.data(), kind, bits, head_dim} {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> row(head_dim);
  for (int s = 0; s < slots; ++s) {
    for (float& x : row) x = normal(random);
    store_in_strips(strips, s, row.data());
  }
}

AttentionProblem::StoredRows::StoredRows(const ProblemShape& shape, RowType type_in, int slots, uint32_t seed)
    : type(type_in) {
  head_dim = shape.head_dim;
  stride = row_bytes(type, head_dim) + (shape.strided ? 7 * alignment(type) : 0);
  offset = shape.misaligned ? alignment(type) : 0;
  bytes.assign(offset + stride * (slots + kFreeRows), shape.free_fill);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int i = 0; i < slots * head_dim; ++i) numbers.push_back(normal(random));
  for (int s = 0; s < slots; ++s) store(s);
}

void AttentionProblem::StoredRows::set(int slot, int channel, float x) {
  numbers[slot * head_dim + channel] = x;
  store(slot);
}

void AttentionProblem::StoredRows::store(int slot) {
  store_row(type, &numbers[slot * head_dim], head_dim, &bytes[offset + slot * stride]);
}

float AttentionProblem::key(int slot, int channel) const {
  std::vector<float> row(shape_.head_dim);
  read_row(args_.k, slot, row.data());
  return row[channel];
}

namespace {

// An array with guards around it.
template <class T>
struct Guarded {
  Guarded(int size, T sentinel_in) : sentinel(sentinel_in), all(kGuard + size + kGuard, sentinel_in) {}
  T* data() { return all.data() + kGuard; }
  // The contents, once the guards have been checked.
  std::vector<T> take() {
    const auto untouched = [&](T x) { return x == sentinel; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuard, untouched)) << "wrote before an output";
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), untouched)) << "wrote behind an output";
    return {all.begin() + kGuard, all.end() - kGuard};
  }

  T sentinel;
  std::vector<T> all;
};

}  // namespace

template <class Call>
AttentionProblem::Result AttentionProblem::collect(Call call) const {
  const bool recurrence = shape_.mass && shape_.form == MassForm::kRecurrence;
  Guarded<float> out(static_cast<int>(shape_.tokens * args_.out_token_stride), kSentinel);
  const int candidates = shape_.older + shape_.candidates;
  Guarded<float> mass(candidates, kSentinel);
  Guarded<int32_t> last_use(candidates, kIntSentinel), longest_gap(candidates, kIntSentinel);
  std::fill_n(mass.data(), candidates, 0.0f);
  for (int s = 0; s < candidates; ++s) {
    last_use.data()[s] = s % 1000;
    longest_gap.data()[s] = s % 3 == 0 ? 4999 - s % 1000 : 0;
  }
  SlotAttentionArgs args = args_;
  args.out = out.data();
  if (recurrence) {
    args.older.last_use = last_use.data();
    args.older.longest_gap = longest_gap.data();
    args.mass.last_use = last_use.data() + shape_.older;
    args.mass.longest_gap = longest_gap.data() + shape_.older;
  } else if (shape_.mass) {
    args.older.sum = mass.data();
    args.mass.sum = mass.data() + shape_.older;
  }
  const size_t floats = slot_attention_scratch(args);
  std::vector<float> scratch(floats + kGuard, kSentinel);
  std::fill_n(scratch.begin(), floats, std::numeric_limits<float>::quiet_NaN());

  call(args, std::span<float>(scratch.data(), floats));

  Result result;
  for (int t = 0; t < shape_.tokens; ++t) {
    for (int g = 0; g < shape_.group; ++g) {
      float* row = args.out + t * args.out_token_stride + g * args.out_head_stride;
      result.out.insert(result.out.end(), row, row + shape_.head_dim);
      std::fill_n(row, shape_.head_dim, kSentinel);
    }
  }
  const auto untouched = [](float x) { return x == kSentinel; };
  EXPECT_TRUE(std::ranges::all_of(out.take(), untouched)) << "wrote between the rows of out";
  EXPECT_TRUE(std::all_of(scratch.begin() + floats, scratch.end(), untouched)) << "wrote behind the scratch";
  if (recurrence) {
    result.last_use = last_use.take();
    result.longest_gap = longest_gap.take();
  } else if (shape_.mass) {
    result.mass = mass.take();
  }
  return result;
}

AttentionProblem::Result AttentionProblem::run(Path path) const {
  return collect(
      [&](const SlotAttentionArgs& args, std::span<float> scratch) { slot_attention(path, args, scratch); });
}

AttentionProblem::Result AttentionProblem::run(Path path, float threshold) const {
  return collect([&](const SlotAttentionArgs& args, std::span<float> scratch) {
    SlotAttentionArgs changed = args;
    changed.mass.threshold = threshold;
    slot_attention(path, changed, scratch);
  });
}

AttentionProblem::Result AttentionProblem::run_pieces(Path path, const std::vector<int>& order) const {
  return collect([&](const SlotAttentionArgs& args, std::span<float> scratch) {
    slot_attention_prepare(path, args, scratch);
    for (int segment : order) slot_attention_segment(path, args, segment, scratch);
    slot_attention_finish(path, args, scratch);
  });
}

AttentionProblem::Result AttentionProblem::run_token_by_token(Path path) const {
  return collect([&](const SlotAttentionArgs& args, std::span<float>) {
    for (int t = 0; t < shape_.tokens; ++t) {
      SlotAttentionArgs one = args;
      one.tokens = 1;
      one.slots_before = args.slots_before + t;
      one.q = args.q + t * args.q_token_stride;
      one.out = args.out + t * args.out_token_stride;
      one.mass.first_token = 0;
      one.mass.position = args.mass.position + t;
      if (t < args.mass.first_token) one.mass.sum = nullptr, one.mass.last_use = nullptr;
      std::vector<float> scratch(slot_attention_scratch(one));
      slot_attention(path, one, scratch);
    }
  });
}

double worst_row_error(const std::vector<float>& actual, const std::vector<float>& expected, int head_dim) {
  double worst = 0;
  for (size_t row = 0; row < expected.size(); row += head_dim) {
    double error = 0, norm = 0;
    for (int i = 0; i < head_dim; ++i) {
      const double difference = double(actual[row + i]) - expected[row + i];
      error += difference * difference;
      norm += double(expected[row + i]) * expected[row + i];
    }
    const double relative = std::sqrt(error / norm);
    worst = std::isnan(relative) ? std::numeric_limits<double>::infinity() : std::max(worst, relative);
  }
  return worst;
}

}  // namespace vase::kernels
