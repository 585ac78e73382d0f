// triattention: its formula with keys turned back, by hand and against direct evaluation; its file.
#include <unistd.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <limits>

#include "policies/rope_turns.h"
#include "policies/small_head.h"
#include "policies/tri_stats.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;

class TriAttention : public testing::Test {
 protected:
  TriAttention() : path_(testing::TempDir() + "vase-tri-" + std::to_string(::getpid()) + ".stats") {}
  ~TriAttention() override { std::filesystem::remove(path_); }

  std::string text() const { return "triattention:stats=" + path_; }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write_bytes(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string path_;
};

TriStats random_stats(const ModelHeads& heads, int pairs, bool adjacent) {
  TriAccumulator sums(heads, pairs, adjacent);
  std::vector<float> row(heads.head_dim);
  for (int layer = 0; layer < heads.layers; ++layer) {
    for (int head = 0; head < heads.kv_heads * heads.group; ++head) {
      for (uint32_t i = 0; i < 6; ++i) {
        PhiloxDraws({.seed = i, .sequence = uint32_t(head), .layer = uint32_t(layer)}).gaussian(false, row);
        sums.add(layer, head, row);
      }
    }
  }
  return sums.stats();
}

TEST_F(TriAttention, MeansByHand) {
  TriAccumulator sums({.layers = 1, .kv_heads = 1, .group = 1, .head_dim = 3}, 1, true);
  sums.add(0, 0, std::vector<float>{3, 4, 1});
  sums.add(0, 0, std::vector<float>{-3, 4, 2});
  const TriStats stats = sums.stats();
  EXPECT_EQ(stats.mean, (std::vector<float>{0, 4, 1.5f}));
  EXPECT_EQ(stats.magnitude, std::vector<float>{5});
  EXPECT_THROW(TriAccumulator({1, 1, 1, 3}, 1, true).stats(), Error);
}

// Frequency 0, so distances do not matter: the mean query is (1, 0) and E|q| = 2, hence a key (x, y) has x + |(x, y)|.
TEST_F(TriAttention, ByHand) {
  write_tri_stats({.heads = {1, 1, 1, 2}, .pairs = 1, .mean = {1, 0}, .magnitude = {2}}, path_);
  SmallHead head(4, 1, 2, 1, 2);
  head.frequencies = {0};
  head.set(head.keys, 0, {2, 0});   // 2 + 2
  head.set(head.keys, 1, {-3, 0});  // -3 + 3
  head.set(head.keys, 2, {0, 3});   // 0 + 3
  head.set(head.keys, 3, {1, 0});   // 1 + 1
  // Mean 9/4, population variance (16 + 0 + 9 + 4) / 4 - 81/16 = 35/16.
  const double deviation = std::sqrt(35.0) / 4;
  expect_near(scores_of(text(), head.view()),
              {1.75 / deviation, -2.25 / deviation, 0.75 / deviation, -0.25 / deviation}, 1e-5);
  EXPECT_EQ(plan_of("score=" + text(), head.view()), (Kept{0, 2}));
}

// The candidate at position 0 is the prompt: mean 5/3 and variance (0 + 9 + 4) / 3 - 25/9 = 14/9 of the other three.
TEST_F(TriAttention, StandardisesBehindThePrompt) {
  write_tri_stats({.heads = {1, 1, 1, 2}, .pairs = 1, .mean = {1, 0}, .magnitude = {2}}, path_);
  SmallHead head(4, 1, 2, 1, 2);
  head.frequencies = {0};
  head.set(head.keys, 0, {200, 0});
  head.set(head.keys, 1, {-3, 0});
  head.set(head.keys, 2, {0, 3});
  head.set(head.keys, 3, {1, 0});
  HeadView view = head.view();
  view.prompt_tokens = 1;
  const double deviation = std::sqrt(14.0) / 3;
  expect_near(scores_of(text(), view),
              {(400 - 5 / 3.) / deviation, -5 / 3. / deviation, 4 / 3. / deviation, 1 / 3. / deviation}, 1e-3);
  for (int j = 0; j < 4; ++j) head.set(head.keys, j, {7, 7});
  EXPECT_EQ(scores_of(text(), head.view()), (std::vector<float>(4, 0)));  // no deviation
}

// Equation of docs/policies.md 4.7 with every key turned back to before the rotation.
std::vector<double> direct(const HeadView& head, const TriStats& stats) {
  const int C = head.candidates(), pairs = stats.pairs;
  std::vector<double> best(C, -INFINITY);
  for (int g = 0; g < head.group; ++g) {
    const auto mean = stats.mean_of(head.layer, head.kv_head * head.group + g);
    const auto magnitude = stats.magnitude_of(head.layer, head.kv_head * head.group + g);
    std::vector<double> scores(C);
    for (int j = 0; j < C; ++j) {
      const auto stored = row_of(head.keys, j);
      const auto key = unrotated(head.rope, head.positions[j], {stored.begin(), stored.end()});
      const double c2 = double(head.rope.magnitude) * head.rope.magnitude;
      for (int f = 0; f < pairs; ++f) {
        const auto [x, y] = pair_channels(head.rope, f);
        const std::complex<double> q(mean[x], mean[y]), z(key[x], key[y]);
        const double phase = std::arg(q * std::conj(z)), w = head.rope.frequencies[f];
        double cosines = 0;
        for (int delta = 1; delta <= 65536; delta *= 2) {
          cosines += std::cos(double(head.seen - head.positions[j] + delta) * w + phase) / 17;
        }
        scores[j] += c2 * std::abs(q) * std::abs(z) * cosines + c2 * (magnitude[f] - std::abs(q)) * std::abs(z);
      }
      for (int c = 2 * pairs; c < head.keys.width; ++c) scores[j] += double(mean[c]) * key[c];
    }
    double sum = 0, squares = 0;
    for (double s : scores) sum += s / C;
    for (double s : scores) squares += (s - sum) * (s - sum) / C;
    for (int j = 0; j < C; ++j) best[j] = std::max(best[j], (scores[j] - sum) / std::sqrt(squares));
  }
  return best;
}

TEST_F(TriAttention, EqualsDirectEvaluation) {
  for (int group : {1, 3, 8}) {
    for (bool adjacent : {false, true}) {
      for (int head_dim : {20, 64, 128}) {
        TestHead head({.candidates = 150, .budget = 100, .head_dim = head_dim, .group = group,
                       .type = adjacent ? RowType::kF16 : RowType::kF32, .shuffled = true});
        const int pairs =
            group == 3 ? head_dim / 4 : head_dim / 2;  // with group 3 half of the channels are not rotated
        head.view.rope.frequencies = head.view.rope.frequencies.first(pairs);
        head.view.rope.adjacent = adjacent;
        head.view.rope.magnitude = 1.2f;
        head.view.layer = 1, head.view.kv_head = 2;
        const ModelHeads heads{.layers = 2, .kv_heads = 3, .group = group, .head_dim = head_dim};
        const TriStats stats = random_stats(heads, pairs, adjacent);
        write_tri_stats(stats, path_);
        expect_near(scores_of(text(), head.view), direct(head.view, stats), 1e-4);
      }
    }
  }
}

TEST_F(TriAttention, ABrokenKeyLosesAndSpoilsNoOther) {
  TestHead head({.candidates = 40, .budget = 60, .head_dim = 32, .group = 2});
  write_tri_stats(random_stats({1, 1, 2, 32}, 16, false), path_);
  std::vector<float> keys(72 * 32, 0.5f);
  for (int j = 0; j < 40; ++j) keys[j * 32] = static_cast<float>(j);
  keys[7 * 32] = std::numeric_limits<float>::quiet_NaN();
  head.set_keys(keys);
  const auto scores = scores_of(text(), head.view);
  for (int j = 0; j < 40; ++j) EXPECT_EQ(std::isnan(scores[j]), j == 7) << j;
}

TEST_F(TriAttention, RefusesAnotherModel) {
  write_tri_stats(random_stats({2, 3, 2, 8}, 4, false), path_);
  const Policy policy = Policy::parse("score=" + text() + " protect=prompt share=model");
  EXPECT_EQ(policy.text(), "protect=prompt score=" + text() + " select=top share=model");
  EXPECT_EQ(Policy::parse(policy.text()).text(), policy.text());
  EXPECT_NO_THROW(policy.check({2, 3, 2, 8}));
  for (const ModelHeads& other : {ModelHeads{1, 3, 2, 8}, {2, 1, 2, 8}, {2, 3, 4, 8}, {2, 3, 2, 16}}) {
    EXPECT_THROW(policy.check(other), Error);
  }
  EXPECT_THROW(Policy::parse("score=0.5*uniform+" + text()).check({1, 3, 2, 8}), Error);  // inside a mixture as well
  TestHead head({.head_dim = 8});
  head.view.rope.adjacent = true;  // halves and neighbours are not the same pairs
  EXPECT_THROW(scores_of(text(), head.view), Error);
}

ErrorCode code_of(const std::string& path) {
  try {
    read_tri_stats(path);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kUsage;
}

TEST_F(TriAttention, ReadsWhatItWrote) {
  const TriStats stats = random_stats({2, 2, 3, 10}, 4, true);
  write_tri_stats(stats, path_);
  const TriStats again = read_tri_stats(path_);
  EXPECT_EQ(again.mean, stats.mean);
  EXPECT_EQ(again.magnitude, stats.magnitude);
  EXPECT_EQ(again.pairs, 4);
  EXPECT_TRUE(again.adjacent);
  EXPECT_EQ(again.heads.group, 3);
}

TEST_F(TriAttention, RefusesMissingAndDamagedFiles) {
  EXPECT_EQ(code_of(path_), ErrorCode::kNotFound);
  EXPECT_NE(parse_error("score=triattention"), "");
  EXPECT_NE(parse_error("score=triattention:stats=" + path_), "");
  write_tri_stats(random_stats({2, 2, 3, 10}, 4, true), path_);
  const std::string good = bytes();
  for (size_t size : {size_t{0}, size_t{5}, size_t{20}, size_t{32}, good.size() - 1}) {
    write_bytes(good.substr(0, size));
    EXPECT_EQ(code_of(path_), ErrorCode::kCorrupt) << size;
  }
  write_bytes(good + "x");
  EXPECT_EQ(code_of(path_), ErrorCode::kCorrupt);
  for (size_t at : {0, 8, 11, 12, 16, 20, 24, 28}) {  // the magic, and each number of the header
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x42);
    write_bytes(bad);
    EXPECT_EQ(code_of(path_), ErrorCode::kCorrupt) << at;
  }
  for (float wrong : {std::numeric_limits<float>::quiet_NaN(), 1e9f}) {
    std::string bad = good;
    bad.replace(32, 4, std::string(reinterpret_cast<const char*>(&wrong), 4));
    write_bytes(bad);
    EXPECT_EQ(code_of(path_), ErrorCode::kCorrupt) << wrong;
  }
  EXPECT_THROW(write_tri_stats(random_stats({1, 1, 1, 2}, 1, false), "/nowhere/at/all"), Error);
}

}  // namespace
}  // namespace vase
