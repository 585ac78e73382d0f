// lag - tokens that stand out against the block behind them (LagKV, arXiv 2504.04704; docs/policies.md 4.11).
// Candidates by position are sinks, then blocks of B tokens, then a tail of fewer. In every block but the last, a row of
// keys is scaled channel by channel with the minimum and maximum of the next block; its standard deviation over the
// channels goes through a softmax inside the block; the same for values; the mean of the two is ranked inside the block:
//   s_j = rank of 1/2 (softmax std (k_j - min) / (max - min) + softmax std (v_j - min) / (max - min)) / B, in [0, 1).
// The last block and the tail come before all of these, the newest first, and the sinks before everything.
//   sinks  tokens at the start of the text, default 4
//   block  B, default 128 tokens
// A channel that is constant over the next block counts 0. Fewer than two blocks: the newest stay.
#include <algorithm>
#include <cmath>

#include "kernels/channel_spread/channel_spread.h"
#include "policies/parts.h"
#include "policies/protect/position_range.h"
#include "policies/score/softmax.h"

namespace vase {
namespace {

class Lag final : public Scorer {
 public:
  Lag(int sinks, int block) : sinks_(sinks), block_(block) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    const int sinks = options.integer("sinks", kDefaultSinks, 0, PartOptions::kMaxTokens);
    return std::make_shared<Lag>(sinks, options.integer("block", kDefaultBlock, 1, PartOptions::kMaxTokens));
  }

  void score(const HeadView& head, RandomDraws&, PolicyScratch& scratch, std::span<float> out) const override {
    const std::span<uint32_t> all = candidates_between(head, 0, INT32_MAX, scratch);
    const auto is_sink = [&](uint32_t j) { return head.positions[j] < sinks_; };
    const size_t sinks = std::find_if_not(all.begin(), all.end(), is_sink) - all.begin();
    std::span<uint32_t> rest = all.subspan(sinks);
    for (uint32_t j : all.first(sinks)) out[j] = 3;
    for (; rest.size() >= 2 * static_cast<size_t>(block_); rest = rest.subspan(block_)) {
      rank_block(head, rest.first(block_), rest.subspan(block_, block_), scratch, out);
    }
    for (size_t i = 0; i < rest.size(); ++i) out[rest[i]] = 1 + static_cast<float>(i + 1) / rest.size();
  }

  std::string text() const override {
    std::string text;
    if (sinks_ != kDefaultSinks) text += ",sinks=" + std::to_string(sinks_);
    if (block_ != kDefaultBlock) text += ",block=" + std::to_string(block_);
    if (!text.empty()) text[0] = ':';
    return "lag" + text;
  }

 private:
  static constexpr int kDefaultSinks = 4, kDefaultBlock = 128;

  // `block` is sorted by score afterwards.
  void rank_block(const HeadView& head, std::span<uint32_t> block, std::span<const uint32_t> next,
                  PolicyScratch& scratch, std::span<float> out) const {
    const auto keys = std::span(scratch.draws).first(block.size());
    const auto values = std::span(scratch.energy).first(block.size());
    spreads(head.keys, block, next, scratch, keys);
    spreads(head.values, block, next, scratch, values);
    for (size_t i = 0; i < block.size(); ++i) out[block[i]] = (keys[i] + values[i]) / 2;
    std::sort(block.begin(), block.end(), [&](uint32_t a, uint32_t b) {
      const bool a_nan = std::isnan(out[a]), b_nan = std::isnan(out[b]);
      if (a_nan != b_nan) return a_nan;
      if (!a_nan && out[a] != out[b]) return out[a] < out[b];
      return head.positions[a] > head.positions[b];  // of equals the older one ranks higher
    });
    for (size_t i = 0; i < block.size(); ++i) out[block[i]] = static_cast<float>(i) / static_cast<float>(block_);
  }

  static void spreads(const RowsView& rows, std::span<const uint32_t> block, std::span<const uint32_t> next,
                      PolicyScratch& scratch, std::span<float> out) {
    const size_t width = padded_row(rows.width);
    const auto low = std::span(scratch.row).first(width);
    const auto scale = std::span(scratch.gaussian).first(width);
    kernels::channel_scaling(kernels::Path::kFused, rows, next, low, scale);
    kernels::channel_spread(kernels::Path::kFused, rows, block, low, scale, out);
    softmax(out);
  }

  int sinks_, block_;
};

constexpr PartInfo::Parameter kParameters[] = {
    {"sinks", "4", "0 to 1048576 tokens", "tokens at the start of the text, which stay"},
    {"block", "128", "1 to 1048576 tokens", "B, tokens that are ranked against one another"},
};

}  // namespace

const PartEntry<Scorer> kLagPart = {"lag", &Lag::parse,
                                    "rank in a block by spread of key and value, scaled by the range of the next block",
                                    "arXiv 2504.04704", kParameters};

}  // namespace vase
