#include "kernels/weight_product/weight_product.h"

#include <ggml.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/on_every_target.h"

namespace vase::kernels {
namespace {

struct Kind {
  WeightFormat format;
  ggml_type type;
};
constexpr Kind kKinds[] = {{WeightFormat::kQ4_0, GGML_TYPE_Q4_0},
                           {WeightFormat::kQ4_1, GGML_TYPE_Q4_1},
                           {WeightFormat::kQ8_0, GGML_TYPE_Q8_0},
                           {WeightFormat::kQ4K, GGML_TYPE_Q4_K},
                           {WeightFormat::kQ6K, GGML_TYPE_Q6_K}};

std::vector<float> normals(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(n);
  for (float& x : all) x = normal(random);
  return all;
}

// A matrix as a file has it, and packed.
struct Matrix {
  Matrix(const Kind& kind, int rows, int inputs) : shape{kind.format, rows, inputs} {
    const std::vector<float> values = normals(size_t(rows) * inputs, unsigned(rows + inputs));
    file.resize(ggml_row_size(kind.type, inputs) * size_t(rows));
    ggml_quantize_chunk(kind.type, values.data(), file.data(), 0, rows, inputs, nullptr);
    dequantised.resize(values.size());
    ggml_get_type_traits(kind.type)->to_float(file.data(), dequantised.data(), int64_t(values.size()));
    storage.resize(packed_bytes(shape) / sizeof(Line));
    pack_weights(shape, file.data(), 0, shape.strips(), packed());
  }
  std::byte* packed() { return reinterpret_cast<std::byte*>(storage.data()); }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  PackedShape shape;
  std::vector<std::byte> file;
  std::vector<float> dequantised;
  std::vector<Line> storage;
};

std::vector<std::byte> rounded(Path path, const std::vector<float>& x, int columns, int inputs) {
  std::vector<std::byte> out(activation_bytes(columns, inputs));
  round_activations(path, x.data(), columns, inputs, 0, inputs / kWeightBlock, out.data());
  return out;
}

std::vector<float> product(Path path, Matrix& matrix, const std::vector<std::byte>& activations, int columns,
                           const float* bias = nullptr) {
  std::vector<float> out(size_t(columns) * matrix.shape.rows, -1.0f);
  weight_product(path, matrix.shape, matrix.packed(), activations.data(), columns, 0, matrix.shape.strips(), bias,
                 out.data());
  return out;
}

bool has_fused_multiply_add() {
  const std::string_view target = last_simd_target();
  return target != "SSSE3" && target != "SSE4" && target != "EMU128";
}

void expect_same(const std::vector<float>& actual, const std::vector<float>& expected, int inputs) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (has_fused_multiply_add()) {
      ASSERT_EQ(actual[i], expected[i]) << i;
    } else {
      ASSERT_NEAR(actual[i], expected[i], 1e-6 * inputs) << i;
    }
  }
}

TEST(WeightProduct, FusedEqualsReference) {
  for (const Kind& kind : kKinds) {
    for (int rows : {5, 16, 40}) {
      const int inputs = 256 * (1 + rows % 3);
      Matrix matrix(kind, rows, inputs);
      const std::vector<float> bias = normals(size_t(rows), 7);
      for (int columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 33}) {
        const auto x = rounded(Path::kReference, normals(size_t(columns) * inputs, 3), columns, inputs);
        const float* added = columns % 2 ? bias.data() : nullptr;
        const auto expected = product(Path::kReference, matrix, x, columns, added);
        on_every_variant([&] {
          SCOPED_TRACE(testing::Message()
                       << ggml_type_name(kind.type) << " " << rows << " x " << inputs << ", " << columns);
          expect_same(product(Path::kFused, matrix, x, columns, added), expected, inputs);
        });
      }
    }
  }
}

// The packed matrix is the file's: products with columns that rounding leaves as they are equal those of the weights.
TEST(WeightProduct, IsThatOfTheFilesWeights) {
  constexpr int kRows = 35, kInputs = 512, kColumns = 3;
  std::mt19937 random(5);
  std::uniform_int_distribution<int> code(-127, 127);
  std::vector<float> x(kColumns * kInputs);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 32 == 0 ? 127 : code(random)) / 64;
  for (const Kind& kind : kKinds) {
    Matrix matrix(kind, kRows, kInputs);
    const auto actual = product(Path::kFused, matrix, rounded(Path::kFused, x, kColumns, kInputs), kColumns);
    for (int c = 0; c < kColumns; ++c) {
      for (int r = 0; r < kRows; ++r) {
        double expected = 0, size = 0;
        for (int i = 0; i < kInputs; ++i) {
          const double term = double(matrix.dequantised[size_t(r) * kInputs + i]) * x[size_t(c) * kInputs + i];
          expected += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(actual[size_t(c) * kRows + r], expected, 1e-6 * size)
            << ggml_type_name(kind.type) << " " << c << " " << r;
      }
    }
  }
}

TEST(WeightProduct, AColumnDoesNotDependOnTheOthers) {
  constexpr int kRows = 48, kInputs = 256;
  for (const Kind& kind : kKinds) {
    Matrix matrix(kind, kRows, kInputs);
    const std::vector<float> x = normals(19 * kInputs, 11);
    on_every_target([&] {
      const auto all = product(Path::kFused, matrix, rounded(Path::kFused, x, 19, kInputs), 19);
      for (int c : {0, 7, 8, 18}) {
        const std::vector<float> alone(x.begin() + c * kInputs, x.begin() + (c + 1) * kInputs);
        const auto one = product(Path::kFused, matrix, rounded(Path::kFused, alone, 1, kInputs), 1);
        EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + c * kRows)) << c;
      }
    });
  }
}

TEST(WeightProduct, StripsCanBeSharedOut) {
  constexpr int kRows = 90, kInputs = 256, kColumns = 4;
  Matrix matrix(kKinds[3], kRows, kInputs);
  const auto x = rounded(Path::kFused, normals(kColumns * kInputs, 2), kColumns, kInputs);
  const auto expected = product(Path::kFused, matrix, x, kColumns);
  std::vector<float> parts(expected.size());
  for (int first = 0; first < matrix.shape.strips(); first += 2) {
    weight_product(Path::kFused, matrix.shape, matrix.packed(), x.data(), kColumns, first,
                   std::min(first + 2, matrix.shape.strips()), nullptr, parts.data());
  }
  EXPECT_EQ(parts, expected);
}

TEST(RoundActivations, FusedEqualsReference) {
  for (int columns : {1, 3, 8, 13}) {
    std::vector<float> x = normals(size_t(columns) * 96, 4);
    std::fill_n(x.begin() + 32, 32, 0.0f);
    x[0] = 1e30f;
    x[5] = -1e-30f;
    const auto expected = rounded(Path::kReference, x, columns, 96);
    on_every_target([&] { EXPECT_EQ(rounded(Path::kFused, x, columns, 96), expected) << columns; });
  }
}

// What is not finite reaches every output of its column, and no other column.
TEST(RoundActivations, NotANumberStaysVisible) {
  constexpr int kInputs = 256;
  for (const Kind& kind : kKinds) {
    Matrix matrix(kind, 20, kInputs);
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      std::vector<float> x = normals(2 * kInputs, 9);
      x[kInputs + 40] = bad;
      on_every_target([&] {
        const auto out = product(Path::kFused, matrix, rounded(Path::kFused, x, 2, kInputs), 2);
        for (int r = 0; r < 20; ++r) {
          EXPECT_TRUE(std::isfinite(out[r]));
          EXPECT_FALSE(std::isfinite(out[20 + r]));
        }
      });
    }
  }
}

}  // namespace
}  // namespace vase::kernels
