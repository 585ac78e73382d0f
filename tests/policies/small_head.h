// Heads of a few tokens and channels, for policies whose result can be worked out by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/rotation/rotation.h"
#include "policies/test_head.h"
#include "vase/error.h"

namespace vase {

// Positions 0, 1, ... of C candidates and R tokens of buffer; keys, values and queries are zero until they are set.
struct SmallHead {
  SmallHead(int candidates, int buffer, int keep, int group, int width, int queries = 0)
      : positions(indices<int32_t>(candidates)),
        keys(size_t(candidates + buffer) * padded_row(width)),
        values(keys.size()),
        ring(size_t(queries) * group * width),
        width_(width),
        buffer_(buffer),
        keep_(keep),
        group_(group),
        queries_(queries) {}

  void set(std::vector<float>& rows, int row, const std::vector<float>& channels) {
    std::copy(channels.begin(), channels.end(), rows.begin() + size_t(row) * padded_row(width_));
  }
  // Of head g of the w-th held token, 0 is the oldest.
  void set_query(int w, int g, const std::vector<float>& channels) {
    std::copy(channels.begin(), channels.end(), ring.begin() + (size_t(w) * group_ + g) * width_);
  }

  HeadView view() const {
    HeadView head{.budget = keep_ + buffer_, .buffer = buffer_, .group = group_};
    head.seen = positions.back() + 1 + buffer_;
    head.positions = positions;
    head.attention = attention;
    head.attention_rows = buffer_ * group_;
    head.last_use = last_use;
    head.longest_gap = longest_gap;
    head.log_weight = log_weight;
    head.keys = {keys.data(), padded_row(width_) * sizeof(float), RowType::kF32, width_, nullptr};
    head.values = {values.data(), padded_row(width_) * sizeof(float), RowType::kF32, width_, nullptr};
    head.queries = {ring.data(), queries_, 0, queries_, group_, width_};
    head.rope = {.frequencies = frequencies};
    return head;
  }

  std::vector<int32_t> positions, last_use, longest_gap;
  std::vector<float> attention, log_weight, keys, values, ring, frequencies;

 private:
  int width_, buffer_, keep_, group_, queries_;
};

// Scores of `score=<text>`.
inline std::vector<float> scores_of(const std::string& text, const HeadView& view) {
  PhiloxDraws draws({});
  PolicyScratch scratch;
  std::vector<uint32_t> kept(view.keep());
  PlanTrace trace;
  Policy::parse("score=" + text).plan(view, draws, scratch, kept, &trace);
  return trace.scores;
}

// Message of the error that parsing throws; "" when it throws none.
inline std::string parse_error(const std::string& text) {
  try {
    Policy::parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void expect_near(const std::vector<float>& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t j = 0; j < actual.size(); ++j) EXPECT_NEAR(actual[j], expected[j], tolerance) << "candidate " << j;
}

// The row before it was rotated at a position.
inline std::vector<float> unrotated(const Rope& rope, int64_t position, std::vector<float> row) {
  std::vector<float> turn(2 * rope.frequencies.size());
  kernels::rotation_for(rope, -static_cast<double>(position), turn);
  for (float& x : turn) x /= rope.magnitude;
  kernels::rotate_row(rope, turn, row);
  return row;
}

// Row as double.
inline std::vector<double> row_of(const RowsView& rows, int i) {
  std::vector<float> row(rows.width);
  read_row(rows, i, row.data());
  return {row.begin(), row.end()};
}

}  // namespace vase
