// SeerAttention-R: the gate against a plain reference in double, and every way in which its file can be wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "policies/read/seer.h"
#include "policies/seer_files.h"
#include "vase/error.h"

namespace vase {
namespace {

using test::SeerFile;
using Vector = std::vector<double>;

std::string path_for(const std::string& name) { return testing::TempDir() + "/seer_test_" + name; }

std::string error_of(const std::string& policy, ErrorCode code) {
  try {
    Policy::parse(policy);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

// RoPE with pairs (f, f + size/2).
Vector rotated(Vector x, const Vector& frequencies, double position) {
  const size_t pairs = frequencies.size();
  for (size_t f = 0; f < pairs; ++f) {
    const double a = x[f], b = x[f + pairs], angle = position * frequencies[f];
    x[f] = a * std::cos(angle) - b * std::sin(angle);
    x[f + pairs] = a * std::sin(angle) + b * std::cos(angle);
  }
  return x;
}

Vector product(std::span<const float> weights, const Vector& x) {
  Vector out(weights.size() / x.size(), 0);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) out[i] += weights[i * x.size() + j] * x[j];
  }
  return out;
}

Vector gate_frequencies(const SeerFile& file) {
  Vector f;
  for (int i = 0; i < file.width / 2; ++i) f.push_back(std::pow(file.rope_base, -2.0 * i / file.width));
  return f;
}

TEST(Seer, GateEqualsAPlainReference) {
  const SeerFile file;
  const std::string path = test::write_file(path_for("reference"), file.bytes());
  const SeerGates gates = SeerGates::read(path);
  const Policy policy = Policy::parse("read=seer:gates=" + path);
  const Reader& reader = policy.reader();
  reader.check(file.heads);

  const int d = file.heads.head_dim, tokens = 14, layer = 1, kv_head = 1;  // three full blocks and two more tokens
  const std::vector<float> frequencies = {0.9f, 0.2f, 0.05f, 0.01f};
  const Vector rope(frequencies.begin(), frequencies.end());
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const auto draw = [&] {
    Vector x(d);
    for (double& v : x) v = normal(random);
    return x;
  };
  std::vector<Vector> keys;
  std::vector<float> rows(size_t(tokens) * padded_row(d), 0);
  for (int t = 0; t < tokens; ++t) {
    keys.push_back(draw());
    const Vector k = rotated(keys.back(), rope, t);
    std::copy(k.begin(), k.end(), rows.begin() + size_t(t) * padded_row(d));
  }
  Vector queries;
  std::vector<float> rotated_queries;
  for (int g = 0; g < file.heads.group; ++g) {
    const Vector q = draw(), turned = rotated(q, rope, tokens - 1);
    queries.insert(queries.end(), q.begin(), q.end());
    rotated_queries.insert(rotated_queries.end(), turned.begin(), turned.end());
  }

  Vector expected(4, 0);
  const Vector query =
      rotated(product(gates.query_weights(layer, kv_head), queries), gate_frequencies(file), tokens - 1);
  double sum = 0;
  for (int b = 0; b < 4; ++b) {
    double dot = 0;  // a block that is not full has a zero key
    if (b < 3) {
      Vector pooled(3 * d);
      for (int c = 0; c < d; ++c) {
        pooled[c] = pooled[d + c] = keys[4 * b][c];
        for (int t = 4 * b; t < 4 * b + 4; ++t) {
          pooled[c] = std::max(pooled[c], keys[t][c]);
          pooled[d + c] = std::min(pooled[d + c], keys[t][c]);
          pooled[2 * d + c] += keys[t][c] / 4;
        }
      }
      const Vector key = rotated(product(gates.key_weights(layer, kv_head), pooled), gate_frequencies(file), 4 * b);
      for (size_t i = 0; i < key.size(); ++i) dot += key[i] * query[i];
    }
    sum += expected[b] = std::exp(dot / std::sqrt(file.width));
  }
  for (double& e : expected) e /= sum;

  const size_t stride = padded_row(d) * sizeof(float);
  std::vector<float> scratch(reader.scratch_floats(file.heads, tokens)), summaries(4 * size_t(file.width), 1e30f);
  const Rope model_rope{.frequencies = frequencies};
  for (int t = 0; t < tokens; ++t) {
    const int first = t / 4 * 4;
    const RowsView block{rows.data() + size_t(first) * padded_row(d), stride, RowType::kF32, d, nullptr};
    reader.update({layer, kv_head, first, t - first + 1, block, model_rope, scratch},
                  std::span(summaries).subspan(size_t(t / 4) * file.width, file.width));
  }
  std::vector<float> scores(4);
  reader.score({.layer = layer,
                .kv_head = kv_head,
                .group = file.heads.group,
                .tokens = tokens,
                .blocks = 4,
                .queries = rotated_queries.data(),
                .keys = {rows.data(), stride, RowType::kF32, d, nullptr},
                .summaries = summaries,
                .rope = model_rope,
                .scratch = scratch},
               scores);
  for (int b = 0; b < 4; ++b) EXPECT_NEAR(scores[b], expected[b], 1e-5) << b;
}

TEST(Seer, TextAndChoice) {
  const std::string path = test::write_file(path_for("text"), SeerFile{}.bytes());
  const std::string text = "read=seer:gates=" + path;
  EXPECT_EQ(Policy::parse(text).text(), text);
  EXPECT_EQ(Policy::parse(text + ",block=4").text(), text);
  EXPECT_EQ(Policy::parse(text + ",threshold=0.1,block=8").text(), text + ",block=8,threshold=0.1");
  EXPECT_TRUE(Policy::parse(text).needs().rope);
  EXPECT_EQ(Policy::parse(text).reader().choice(19).blocks, 4);
  EXPECT_FALSE(Policy::parse(text).reader().choice(19).last_among_them);
  EXPECT_EQ(Policy::parse(text + ",threshold=0.25").reader().choice(19).threshold, 0.25f);
}

TEST(Seer, FilesThatCannotBeUsed) {
  const auto error_with = [](const std::string& bytes) {
    const std::string path = test::write_file(path_for("bad"), bytes);
    return error_of("read=seer:gates=" + path, ErrorCode::kCorrupt);
  };
  const std::string good = SeerFile{}.bytes();
  EXPECT_NE(error_of("read=seer:gates=" + path_for("missing"), ErrorCode::kNotFound).find("distil_gates"),
            std::string::npos);
  EXPECT_NE(error_of("read=seer", ErrorCode::kUsage).find("gates=FILE"), std::string::npos);
  EXPECT_NE(error_of("seer-attention", ErrorCode::kUsage).find("read=seer:gates=FILE"), std::string::npos);
  EXPECT_NE(error_with("").find("too short"), std::string::npos);
  EXPECT_NE(error_with("GGUF" + good).find("VASESEER"), std::string::npos);
  EXPECT_NE(error_with(SeerFile{.version = 2}.bytes()).find("version 2"), std::string::npos);
  EXPECT_NE(error_with(SeerFile{.width = 7}.bytes()).find("even"), std::string::npos);
  EXPECT_NE(error_with(SeerFile{.rope_base = 0}.bytes()).find("RoPE base"), std::string::npos);
  EXPECT_NE(error_with(SeerFile{.block = 0}.bytes()).find("the block is 0"), std::string::npos);
  EXPECT_NE(error_with(good.substr(0, good.size() - 1)).find("bytes"), std::string::npos);
  EXPECT_NE(error_with(good + "x").find("bytes"), std::string::npos);
  std::string nan = good;
  nan.replace(nan.size() - 4, 4, "\xff\xff\xff\x7f", 4);
  EXPECT_NE(error_with(nan).find("no finite number"), std::string::npos);
  std::string huge = good;  // sizes whose product overflows 32 bits
  for (const size_t at : {12, 16, 24}) huge.replace(at, 4, std::string("\x00\x04\x00\x00", 4));
  EXPECT_NE(error_with(huge).find("bytes"), std::string::npos);
  EXPECT_NE(error_of("read=seer:gates=" + testing::TempDir(), ErrorCode::kNotFound).find("cannot read"),
            std::string::npos);
}

TEST(Seer, GatesOfAnotherModelAreRefused) {
  const std::string path = test::write_file(path_for("other"), SeerFile{}.bytes());
  const Policy policy = Policy::parse("read=seer:gates=" + path);
  policy.check(SeerFile{}.heads);
  for (ModelHeads heads : {ModelHeads{3, 2, 2, 8}, {2, 4, 2, 8}, {2, 2, 1, 8}, {2, 2, 2, 16}}) {
    EXPECT_THROW(policy.check(heads), Error) << heads.layers << heads.kv_heads << heads.group << heads.head_dim;
  }
}

}  // namespace
}  // namespace vase
