#include "policies/read/quest.h"

#include <algorithm>

#include "policies/parts.h"

namespace vase {
namespace {

constexpr int kFewestPages = 3;
constexpr int kLanes = 16;  // sums side by side, so that the compiler may use vectors; rows are padded to it

float bound(const float* query, const float* smallest, const float* largest, int width) {
  float sums[kLanes] = {};
  for (int i = 0; i < width; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int c = i + lane;
      sums[lane] += std::max(query[c] * smallest[c], query[c] * largest[c]);
    }
  }
  float sum = 0;
  for (float s : sums) sum += s;
  return sum;
}

}  // namespace

std::shared_ptr<const Reader> Quest::parse(PartOptions& options) {
  const int page = options.integer("page", 16, 1, 4096);
  const int dense = options.integer("dense_layers", 0, 0, 4096);
  return std::make_shared<Quest>(page, dense);
}

void Quest::update(const BlockView& block, std::span<float> summary) const {
  const int width = block.keys.width, padded = padded_row(width);
  float* smallest = summary.data();
  float* largest = smallest + padded;
  if (block.count == 1) {
    std::fill(summary.begin(), summary.end(), 0.0f);
    read_row(block.keys, 0, smallest);
    std::copy_n(smallest, width, largest);
    return;
  }
  float* key = block.scratch.data();
  read_row(block.keys, block.count - 1, key);
  for (int c = 0; c < width; ++c) {
    smallest[c] = std::min(smallest[c], key[c]);
    largest[c] = std::max(largest[c], key[c]);
  }
}

void Quest::score(const ReadView& view, std::span<float> out) const {
  const int width = view.keys.width, padded = padded_row(width);
  float* query = view.scratch.data();
  std::copy_n(view.queries, width, query);
  std::fill(query + width, query + padded, 0.0f);
  for (int b = 0; b < view.blocks; ++b) {
    const float* smallest = view.summaries.data() + size_t(b) * 2 * padded;
    out[b] = bound(query, smallest, smallest + padded, padded);
  }
}

ReadChoice Quest::choice(int budget) const {
  return {.blocks = std::max(kFewestPages, budget / page_), .last_among_them = true, .threshold = {}};
}

std::string Quest::text() const {
  std::string text = "quest:page=" + std::to_string(page_);
  if (dense_layers_ > 0) text += ",dense_layers=" + std::to_string(dense_layers_);
  return text;
}

namespace {

constexpr PartInfo::Parameter kParameters[] = {
    {"page", "16", "1 to 4096 tokens", "tokens per page"},
    {"dense_layers", "0", "0 to 4096 layers", "first layers that read everything; the authors' code has 2"},
};

}  // namespace

const PartEntry<Reader> kQuestPart = {
    "quest", &Quest::parse, "per query head the pages with the largest bound sum_i max(q_i min_i, q_i max_i)",
    "arXiv 2406.10774", kParameters};

}  // namespace vase
