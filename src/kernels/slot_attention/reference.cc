#include "kernels/slot_attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace vase::kernels::reference {
namespace {

bool recurrence(const SlotAttentionArgs& args) { return args.mass.wanted() && args.mass.form == MassForm::kRecurrence; }

// Views into the scratch: logits of all slots, the group's largest probability of each slot (kRecurrence) and one
// output row in double, one decoded row in float.
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
  double* largest = doubles + args.slots();
  double* out = largest + (recurrence(args) ? args.slots() : 0);
  return {doubles, largest, out, reinterpret_cast<float*>(out + args.head_dim)};
}

RowsView with_width(RowsView rows, int width) {
  rows.width = width;
  return rows;
}

// logits[s] = q . k_s * scale + log-weight, for the slots that the token sees.
void compute_logits(const SlotAttentionArgs& args, const float* q, int slots, const Buffers& buffers) {
  const RowsView keys = with_width(args.k, args.head_dim);
  for (int s = 0; s < slots; ++s) {
    read_row(keys, s, buffers.row);
    double dot = 0;
    for (int i = 0; i < args.head_dim; ++i) dot += double(q[i]) * buffers.row[i];
    buffers.logits[s] = dot * args.scale + (args.log_weight ? args.log_weight[s] : 0.0);
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
  const RowsView values = with_width(args.v, args.head_dim);
  const Softmax softmax(buffers.logits, slots, 1);
  std::fill_n(buffers.out, args.head_dim, 0.0);
  for (int s = 0; s < slots && !softmax.empty(); ++s) {
    read_row(values, s, buffers.row);
    const double p = softmax.probability(s);
    for (int i = 0; i < args.head_dim; ++i) buffers.out[i] += p * buffers.row[i];
  }
  for (int i = 0; i < args.head_dim; ++i) out[i] = static_cast<float>(buffers.out[i]);
}

// Mass of head g of a token.
void add_mass(const MassArgs& mass, int slots, int g, const Buffers& buffers) {
  const int candidates = std::min(mass.candidates, slots);
  const Softmax softmax(buffers.logits, candidates, mass.temperature);
  for (int s = 0; s < candidates; ++s) {
    const double p = softmax.probability(s);
    switch (mass.form) {
      case MassForm::kSum:
        mass.sum[s] += static_cast<float>(p);
        break;
      case MassForm::kSquares:
        mass.sum[s] += static_cast<float>(p * p);
        break;
      case MassForm::kMax:
        mass.sum[s] = std::max(mass.sum[s], static_cast<float>(p));
        break;
      case MassForm::kRecurrence:
        buffers.largest[s] = g == 0 ? p : std::max(buffers.largest[s], p);
        break;
    }
  }
}

// After the last head of a token.
void note_uses(const MassArgs& mass, int slots, int32_t position, const Buffers& buffers) {
  for (int s = 0; s < std::min(mass.candidates, slots); ++s) {
    if (!(buffers.largest[s] >= mass.threshold)) continue;
    mass.longest_gap[s] = std::max(mass.longest_gap[s], position - mass.last_use[s]);
    mass.last_use[s] = position;
  }
}

}  // namespace

size_t scratch_floats(const SlotAttentionArgs& args) {
  return 2 * (static_cast<size_t>(args.slots()) * (recurrence(args) ? 2 : 1) + args.head_dim + 1) + args.head_dim;
}

void slot_attention(const SlotAttentionArgs& args, std::span<float> scratch) {
  const Buffers buffers = carve(args, scratch);
  for (int t = 0; t < args.tokens; ++t) {
    const int slots = args.slots_before + t + 1;
    const bool mass = args.mass.wanted() && t >= args.mass.first_token;
    for (int g = 0; g < args.group; ++g) {
      const float* q = args.q + t * args.q_token_stride + g * args.q_head_stride;
      compute_logits(args, q, slots, buffers);
      attend(args, slots, buffers, args.out + t * args.out_token_stride + g * args.out_head_stride);
      if (mass) add_mass(args.mass, slots, g, buffers);
    }
    if (mass && recurrence(args)) note_uses(args.mass, slots, args.mass.position + t, buffers);
  }
}

}  // namespace vase::kernels::reference
