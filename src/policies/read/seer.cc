#include "policies/read/seer.h"

#include <algorithm>
#include <cmath>

#include "kernels/rotation/rotation.h"
#include "policies/model_heads.h"
#include "policies/parts.h"
#include "policies/score/softmax.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr size_t kLanes = 16;  // sums side by side, so that the compiler may use vectors

float dot(std::span<const float> a, const float* b) {
  float sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (float s : sums) sum += s;
  for (; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// out = weights [out.size()][in.size()] times in.
void multiply(std::span<const float> weights, std::span<const float> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = dot(in, weights.data() + i * in.size());
}

// Turns the row by a number of positions. turn: scratch of turn_floats().
void rotate(const Rope& rope, int positions, std::span<float> turn, std::span<float> row) {
  kernels::rotation_for(rope, positions, turn);
  kernels::rotate_row(rope, turn, row);
}

// The row as it was before RoPE at this position.
void unrotate(const Rope& rope, int position, std::span<float> turn, std::span<float> row) {
  rotate(rope, -position, turn, row);
  if (rope.magnitude == 1) return;
  for (float& x : row.first(2 * rope.frequencies.size())) x /= rope.magnitude;
}

}  // namespace

std::shared_ptr<const Reader> SeerAttention::parse(PartOptions& options) {
  const std::string path = options.file("gates");
  const int block = options.integer("block", 0, 1, 4096);
  std::optional<double> threshold;
  if (options.has("threshold")) threshold = options.real("threshold", 0, 0, 1);
  SeerGates gates = SeerGates::read(path);
  const int of_file = gates.block;
  return std::make_shared<SeerAttention>(std::move(gates), path, block > 0 ? block : of_file, threshold);
}

size_t SeerAttention::scratch_floats(const ModelHeads& heads, int) const {
  const int turn = std::max(heads.head_dim, gates_.width);
  return size_t(heads.head_dim) * std::max(3 + 1, heads.group) + gates_.width + turn;
}

void SeerAttention::update(const BlockView& block, std::span<float> summary) const {
  if (block.count < block_) return;
  const size_t width = block.keys.width;
  const std::span<float> pooled = block.scratch.first(3 * width), key = block.scratch.subspan(3 * width, width);
  const std::span<float> turn = block.scratch.subspan(4 * width);
  const std::span<float> largest = pooled.first(width), smallest = pooled.subspan(width, width),
                         mean = pooled.last(width);
  for (int t = 0; t < block.count; ++t) {
    read_row(block.keys, t, key.data());
    unrotate(block.rope, block.first + t, turn, key);
    for (size_t c = 0; c < width; ++c) {
      largest[c] = t == 0 ? key[c] : std::max(largest[c], key[c]);
      smallest[c] = t == 0 ? key[c] : std::min(smallest[c], key[c]);
      mean[c] = t == 0 ? key[c] : mean[c] + key[c];
    }
  }
  for (float& m : mean) m /= static_cast<float>(block.count);
  multiply(gates_.key_weights(block.layer, block.kv_head), pooled, summary);
  rotate(gates_.rope(), block.first, turn, summary);
}

void SeerAttention::score(const ReadView& view, std::span<float> out) const {
  const size_t width = view.keys.width;
  const std::span<float> queries = view.scratch.first(view.group * width);
  const std::span<float> gate = view.scratch.subspan(queries.size(), gates_.width);
  const std::span<float> turn = view.scratch.subspan(queries.size() + gate.size());
  std::copy_n(view.queries, queries.size(), queries.begin());
  const int position = view.tokens - 1;
  for (int g = 0; g < view.group; ++g) unrotate(view.rope, position, turn, queries.subspan(g * width, width));
  multiply(gates_.query_weights(view.layer, view.kv_head), queries, gate);
  rotate(gates_.rope(), position, turn, gate);

  const int full = view.tokens / block_;
  const float scale = 1 / std::sqrt(static_cast<float>(gates_.width));
  for (int b = 0; b < view.blocks; ++b) {
    out[b] = b < full ? dot(gate, view.summaries.data() + size_t(b) * gates_.width) * scale : 0;
  }
  softmax(out);
}

ReadChoice SeerAttention::choice(int budget) const {
  ReadChoice choice{.blocks = budget / block_, .last_among_them = false, .threshold = {}};
  if (threshold_) choice.threshold = static_cast<float>(*threshold_);
  return choice;
}

void SeerAttention::check(const ModelHeads& heads) const {
  if (same_heads(gates_.heads, heads)) return;
  throw Error(ErrorCode::kUsage, "the gates in " + path_ + " were made for " + heads_text(gates_.heads) +
                                     "; this model has " + heads_text(heads) +
                                     ". Distil gates for it with scripts/distil_gates.py");
}

std::string SeerAttention::text() const {
  std::string text = "seer:gates=" + path_;
  if (block_ != gates_.block) text += ",block=" + std::to_string(block_);
  if (threshold_) text += ",threshold=" + shortest(*threshold_);
  return text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"gates", "", "name of a file", "the weights; must be given. scripts/distil_gates.py makes them"},
    {"block", "the file's", "1 to 4096 tokens", "tokens per block"},
    {"threshold", "", "0 to 1", "reads every block whose score exceeds it, whatever the budget"},
};

}  // namespace

const PartEntry<Reader> kSeerPart = {
    "seer", &SeerAttention::parse, "the blocks with the largest softmax(q~ . k~ / sqrt w) of a trained gate",
    "arXiv 2506.08889", kParameters};

}  // namespace vase
