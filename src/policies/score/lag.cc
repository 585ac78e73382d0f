// lag - tokens that stand out against the block behind them (LagKV, arXiv 2504.04704; docs/policies.md 4.11).
// Candidates by position are sinks, then blocks of B tokens, then a tail of fewer. In every block but the last, a row
// of keys is scaled channel by channel with the minimum and maximum of the next block; its standard deviation over the
// channels goes through a softmax inside the block; the same for values; the mean of the two is ranked inside the
// block:
//   s_j = rank of 1/2 (softmax std (k_j - min) / (max - min) + softmax std (v_j - min) / (max - min)) / B, in [0, 1).
// The last block and the tail come before all of these, the newest first, and the sinks before everything.
//   sinks  tokens at the start of the text, default 4
//   block  B, default 128 tokens
// A channel that is constant over the next block counts 0. Fewer than two blocks: the newest stay.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/channel_spread/channel_spread.h"
#include "kernels/query_scores/query_scores.h"
#include "policies/parts.h"
#include "policies/protect/position_range.h"

namespace vase {
namespace {

class Lag final : public Scorer {
 public:
  Lag(int sinks, int block) : sinks_(sinks), block_(block) {}
  static std::shared_ptr<const Scorer> parse(PartOptions& options) {
    const int sinks = options.integer("sinks", kDefaultSinks, 0, PartOptions::kMaxTokens);
    return std::make_shared<Lag>(sinks, options.integer("block", kDefaultBlock, 1, PartOptions::kMaxTokens));
  }

  PolicyNeeds needs() const override { return {.rows = true}; }
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

  // A score's bits and its place in the block together make an integer that a double holds exactly, so that sorting
  // moves numbers and looks nothing up. NaN ranks lowest; of equals the older one ranks higher.
  static constexpr uint64_t kPlaces = 1 << 20;  // the largest block
  static_assert(PartOptions::kMaxTokens <= kPlaces);
  static double rank_key(float score, size_t place) {
    const uint64_t bits = std::isnan(score) ? 0 : uint64_t(1) + std::bit_cast<uint32_t>(score);
    return static_cast<double>(bits * kPlaces + (kPlaces - 1 - place));
  }

  void rank_block(const HeadView& head, std::span<const uint32_t> block, std::span<const uint32_t> next,
                  PolicyScratch& scratch, std::span<float> out) const {
    const auto scores = std::span(scratch.energy).first(block.size());  // twice the mean of the two shares
    std::fill(scores.begin(), scores.end(), 0.0f);
    add_shares(head.keys, block, next, scratch, scores);
    add_shares(head.values, block, next, scratch, scores);
    const auto keys = std::span(scratch.keys).first(block.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = rank_key(scores[i], i);
    std::sort(keys.begin(), keys.end());
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t place = kPlaces - 1 - static_cast<uint64_t>(keys[i]) % kPlaces;
      out[block[place]] = static_cast<float>(i) / static_cast<float>(block_);
    }
  }

  static void add_shares(const RowsView& rows, std::span<const uint32_t> block, std::span<const uint32_t> next,
                         PolicyScratch& scratch, std::span<float> sum) {
    const size_t width = padded_row(rows.width);
    const auto low = std::span(scratch.row).first(width);
    const auto scale = std::span(scratch.gaussian).first(width);
    const auto spread = std::span(scratch.draws).first(block.size());
    kernels::channel_scaling(kernels::Path::kFused, rows, next, low, scale);
    kernels::channel_spread(kernels::Path::kFused, rows, block, low, scale, spread);
    kernels::add_softmax(kernels::Path::kFused, spread, sum);
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
