#include "kernels/slot_attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace vase::kernels::reference {
namespace {

bool recurrence(const SlotAttentionArgs& args) { return args.mass.wanted() && args.mass.form == MassForm::kRecurrence; }

int all_slots(const SlotAttentionArgs& args) { return args.older.slots + args.slots(); }

// Views into the scratch: logits of all slots, the group's largest probability of each slot (kRecurrence) and one
// output row in double, one decoded row in float. Older slots come first.
struct Buffers {
  double* logits;
  double* largest;
  double* out;
  float* row;
};

Buffers carve(const SlotAttentionArgs& args, std::span<float> scratch) {
  void* base = scratch.data();
  size_t bytes = scratch.size_bytes();
  auto* doubles = static_cast<double*>(std::align(alignof(double), sizeof(double), base, bytes));
  double* largest = doubles + all_slots(args);
  double* out = largest + (recurrence(args) ? all_slots(args) : 0);
  return {doubles, largest, out, reinterpret_cast<float*>(out + args.head_dim)};
}

// Decodes row s of the older slots and the run's, one behind the other.
void read(const SlotAttentionArgs& args, const PartRows& older, const RowsView& own, int s, float* row) {
  const bool is_older = s < args.older.slots;
  if (is_older && older.in_strips()) return read_from_strips(older.strips, s, row);
  RowsView rows = is_older ? older.rows : own;
  rows.width = args.head_dim;
  read_row(rows, is_older ? s : s - args.older.slots, row);
}

double log_weight(const SlotAttentionArgs& args, int s) {
  if (s < args.older.slots) return args.older.log_weight ? args.older.log_weight[s] : 0;
  return args.log_weight ? args.log_weight[s - args.older.slots] : 0;
}

// logits[s] = q . k_s * scale + log-weight, for the slots that the token sees.
void compute_logits(const SlotAttentionArgs& args, const float* q, int slots, const Buffers& buffers) {
  for (int s = 0; s < slots; ++s) {
    read(args, args.older.k, args.k, s, buffers.row);
    if (s < args.older.slots && args.older.key_offset) {
      add_key_offset(*args.older.key_offset, args.older.positions[s], 1, buffers.row);
    }
    double dot = 0;
    for (int i = 0; i < args.head_dim; ++i) dot += double(q[i]) * buffers.row[i];
    buffers.logits[s] = dot * args.scale + log_weight(args, s);
  }
}

// Softmax of logits[0..n) / temperature as a maximum and a sum; a maximum of -inf means that nothing has
// weight.
struct Softmax {
  Softmax(const double* logits_in, int n, double temperature_in)
      : logits(logits_in), temperature(temperature_in) {
    for (int s = 0; s < n; ++s) max = std::fmax(max, logits[s]);
    for (int s = 0; s < n && !empty(); ++s) sum += std::exp((logits[s] - max) / temperature);
  }
  bool empty() const { return max == -std::numeric_limits<double>::infinity(); }
  double probability(int s) const { return empty() ? 0 : std::exp((logits[s] - max) / temperature) / sum; }

  const double* logits;
  double temperature;
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

void attend(const SlotAttentionArgs& args, int slots, const Buffers& buffers, float* out) {
  const Softmax softmax(buffers.logits, slots, 1);
  std::fill_n(buffers.out, args.head_dim, 0.0);
  for (int s = 0; s < slots && !softmax.empty(); ++s) {
    read(args, args.older.v, args.v, s, buffers.row);
    const double p = softmax.probability(s);
    for (int i = 0; i < args.head_dim; ++i) buffers.out[i] += p * buffers.row[i];
  }
  for (int i = 0; i < args.head_dim; ++i) out[i] = static_cast<float>(buffers.out[i]);
}

// What a record holds of slot s, counted as above.
template <class T>
T& record(const SlotAttentionArgs& args, T* older, T* own, int s) {
  return s < args.older.slots ? older[s] : own[s - args.older.slots];
}

int candidates_of(const SlotAttentionArgs& args, int slots) { return std::min(args.older.slots + args.mass.candidates, slots); }

// Mass of head g of a token.
void add_mass(const SlotAttentionArgs& args, int slots, int g, const Buffers& buffers) {
  const int candidates = candidates_of(args, slots);
  const Softmax softmax(buffers.logits, candidates, args.mass.temperature);
  const auto sum = [&](int s) -> float& { return record(args, args.older.sum, args.mass.sum, s); };
  for (int s = 0; s < candidates; ++s) {
    const double p = softmax.probability(s);
    switch (args.mass.form) {
      case MassForm::kSum:
        sum(s) += static_cast<float>(p);
        break;
      case MassForm::kSquares:
        sum(s) += static_cast<float>(p * p);
        break;
      case MassForm::kMax:
        sum(s) = std::max(sum(s), static_cast<float>(p));
        break;
      case MassForm::kRecurrence:
        buffers.largest[s] = g == 0 ? p : std::max(buffers.largest[s], p);
        break;
    }
  }
}

// After the last head of a token.
void note_uses(const SlotAttentionArgs& args, int slots, int32_t position, const Buffers& buffers) {
  for (int s = 0; s < candidates_of(args, slots); ++s) {
    if (!(buffers.largest[s] >= args.mass.threshold)) continue;
    int32_t& last_use = record(args, args.older.last_use, args.mass.last_use, s);
    int32_t& longest_gap = record(args, args.older.longest_gap, args.mass.longest_gap, s);
    longest_gap = std::max(longest_gap, position - last_use);
    last_use = position;
  }
}

}  // namespace

size_t scratch_floats(const SlotAttentionArgs& args) {
  return 2 * (static_cast<size_t>(all_slots(args)) * (recurrence(args) ? 2 : 1) + args.head_dim + 1) + args.head_dim;
}

void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch) {
  const Buffers buffers = carve(args, scratch);
  for (int t = 0; t < args.tokens; ++t) {
    const int slots = args.older.slots + args.slots_before + t + 1;
    const bool mass = args.mass.wanted() && t >= args.mass.first_token;
    for (int g = 0; g < args.group; ++g) {
      const float* q = args.q + t * args.q_token_stride + g * args.q_head_stride;
      compute_logits(args, q, slots, buffers);
      attend(args, slots, buffers, args.out + t * args.out_token_stride + g * args.out_head_stride);
      if (mass) add_mass(args, slots, g, buffers);
    }
    if (mass && recurrence(args)) note_uses(args, slots, args.mass.position + t, buffers);
  }
}

}  // namespace vase::kernels::reference
