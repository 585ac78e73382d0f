// Views of made-up heads for policy tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/philox_draws.h"
#include "vase/policy.h"

namespace vase {

struct HeadShape {
  int candidates = 96;  // C
  int budget = 96;      // M
  int buffer = 32;      // R
  int prompt = 0;       // P
  int head_dim = 32;    // d
  int group = 2;        // G
  RowType type = RowType::kF32;
  bool shuffled = false;  // candidates in random logical order instead of ascending position
  uint64_t seed = 1;      // of the content
};

// Owns what one head's view may hold, at random: positions (0 .. 7, then ascending with gaps), keys and values of n
// rows, every record of attention, log-weights, the 64 newest queries, a rotation.
class TestHead {
 public:
  static constexpr int kQueries = 64;

  explicit TestHead(const HeadShape& shape);
  TestHead(TestHead&&) = default;
  TestHead& operator=(TestHead&&) = default;

  HeadView view;  // all of it; `attention` as a window sum
  std::vector<int32_t> positions;
  std::vector<float> attention, value_range, norm_product, log_weight;
  std::vector<int32_t> last_use, longest_gap;

  // What the engine would show to a policy with these needs: anything else is empty, and the queries that the policy
  // has not asked for are NaN. The result points to this head, and is good until the next call.
  HeadView view_for(const PolicyNeeds& needs);

  // Other keys or values: [n][head_dim], candidates first. The recorded value_range stays as it is.
  void set_keys(const std::vector<float>& rows);
  void set_values(const std::vector<float>& rows);

  // The same head with its candidates in another logical order: candidate i is this head's order[i].
  TestHead reordered(const std::vector<uint32_t>& order) const;

 private:
  TestHead() = default;
  void point_view_here();

  std::vector<uint32_t> slots_;
  std::vector<std::byte> keys_, values_;
  std::vector<float> queries_, frequencies_;
  std::vector<float> record_, asked_queries_;  // of view_for()
};

// Kept candidates of one plan with Philox draws.
std::vector<uint32_t> plan_of(const Policy& policy, const HeadView& view, const DrawKey& key = {});
std::vector<uint32_t> plan_of(const std::string& text, const HeadView& view, const DrawKey& key = {});

// Their positions as a set.
std::set<int> positions_of(const std::vector<uint32_t>& kept, const HeadView& view);

// Draws as given, by candidate.
class GivenDraws final : public RandomDraws {
 public:
  explicit GivenDraws(std::vector<float> draws) : draws_(std::move(draws)) {}
  void uniform(std::span<const int32_t>, std::span<float> out) override { give(out); }
  void exponential(std::span<const int32_t>, std::span<float> out) override { give(out); }
  void gaussian(bool, std::span<float> out) override { give(out); }

 private:
  void give(std::span<float> out) { std::copy_n(draws_.begin(), out.size(), out.begin()); }
  std::vector<float> draws_;
};

// Scores as given, for tests of what happens behind the scorer.
class FixedScores final : public Scorer {
 public:
  explicit FixedScores(std::vector<float> scores) : scores_(std::move(scores)) {}
  void score(const HeadView&, RandomDraws&, PolicyScratch&, std::span<float> out) const override {
    std::copy(scores_.begin(), scores_.end(), out.begin());
  }
  std::string text() const override { return "fixed"; }

 private:
  std::vector<float> scores_;
};

// 0, 1, ... n - 1.
template <typename T = uint32_t>
std::vector<T> indices(size_t n) {
  std::vector<T> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = static_cast<T>(i);
  return all;
}

}  // namespace vase
