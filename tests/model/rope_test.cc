// The frequencies of a model's RoPE against ggml's own rotation, far out, with factors and with scaling.
#include "model/rope.h"

#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/rotation/rotation.h"
#include "support/tiny_gguf.h"

namespace vase::model {
namespace {

using test::TinyModel;
using test::TinyOptions;

constexpr int kRows = 6;

struct Rotated {
  std::vector<float> in, out;  // [kRows][head_dim]
};

// Random rows, and what ggml makes of them at the positions.
Rotated rotate_with_ggml(const Weights& weights, const std::vector<int32_t>& positions) {
  const HParams& h = weights.hparams();
  ggml_context_ptr context(ggml_init({size_t{16} << 20, nullptr, false}));
  ggml_tensor* rows = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, h.head_dim, 1, kRows);
  ggml_tensor* at = ggml_new_tensor_1d(context.get(), GGML_TYPE_I32, kRows);
  std::copy(positions.begin(), positions.end(), static_cast<int32_t*>(at->data));
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  Rotated result;
  for (int i = 0; i < kRows * h.head_dim; ++i) result.in.push_back(normal(random));
  std::copy(result.in.begin(), result.in.end(), static_cast<float*>(rows->data));
  ggml_tensor* out = ggml_rope_ext(context.get(), rows, at, weights.layers()[0].rope_factors, h.rope_dims,
                                   h.rope == RopeKind::kHalves ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL,
                                   h.rope_original_context, h.rope_base, h.rope_scale, h.yarn_ext_factor,
                                   h.yarn_attn_factor, h.yarn_beta_fast, h.yarn_beta_slow);
  ggml_cgraph* graph = ggml_new_graph(context.get());
  ggml_build_forward_expand(graph, out);
  ggml_graph_compute_with_ctx(context.get(), graph, 1);
  const auto* data = static_cast<const float*>(out->data);
  result.out.assign(data, data + kRows * h.head_dim);
  return result;
}

std::vector<TinyOptions> kinds() {
  return {{.family = "llama", .head_dim = 64},
          {.family = "qwen2", .head_dim = 128, .rope_base = 1e6f},
          {.family = "qwen3", .head_dim = 80, .rope_base = 5e5f},
          {.family = "llama", .head_dim = 64, .rope_factors = true},
          {.family = "llama", .head_dim = 96, .rope_scaling = "linear", .rope_factor = 4},
          {.family = "qwen2", .head_dim = 128, .rope_base = 1e6f, .rope_scaling = "yarn", .rope_factor = 4,
           .rope_original_context = 32768},
          {.family = "llama", .head_dim = 64, .rope_scaling = "yarn", .rope_factor = 8, .rope_original_context = 4096,
           .rope_attn_factor = 0.9f, .rope_factors = true}};
}

// ggml multiplies its way from pair to pair in f32, so its angle of pair f is off by up to f + 2 roundings.
TEST(Rope, EqualsGgmlsRotation) {
  const std::vector<int32_t> positions = {0, 1, 17, 1000, 32767, 100000};
  for (const TinyOptions& options : kinds()) {
    SCOPED_TRACE(options.family + " " + options.rope_scaling);
    const TinyModel file(options);
    const auto weights = Weights::load(file.path());
    const RopeTable table = rope_table(*weights);
    const int d = options.head_dim, pairs = d / 2;
    ASSERT_EQ(table.frequencies.size(), size_t(pairs));
    const Rotated rotated = rotate_with_ggml(*weights, positions);
    for (int row = 0; row < kRows; ++row) {
      std::vector<float> want(rotated.in.begin() + row * d, rotated.in.begin() + (row + 1) * d);
      std::vector<float> turn(d);
      kernels::rotation_for(table.view(), positions[row], turn);
      kernels::rotate_row(table.view(), turn, want);
      for (int f = 0; f < pairs; ++f) {
        const int a = table.adjacent ? 2 * f : f, b = table.adjacent ? 2 * f + 1 : f + pairs;
        const double size = table.magnitude * std::hypot(want[a], want[b]);
        const double angle = double(positions[row]) * table.frequencies[f];
        const double tolerance = size * ((f + 3) * 0x1p-24 * angle + 1e-6);
        ASSERT_NEAR(rotated.out[row * d + a], table.magnitude * want[a], tolerance) << positions[row] << " pair " << f;
        ASSERT_NEAR(rotated.out[row * d + b], table.magnitude * want[b], tolerance) << positions[row] << " pair " << f;
      }
    }
  }
}

// Scaling changes what it should: the table of a plain model would not do.
TEST(Rope, ScalingAndFactorsCount) {
  const auto table = [](const TinyOptions& options) { return rope_table(*Weights::load(TinyModel(options).path())); };
  const RopeTable plain = table({.head_dim = 64});
  EXPECT_FLOAT_EQ(plain.frequencies[0], 1);
  EXPECT_FLOAT_EQ(plain.frequencies[31], std::pow(10000.0f, -31.0f / 32));
  EXPECT_EQ(plain.magnitude, 1);
  EXPECT_NE(table({.head_dim = 64, .rope_factors = true}).frequencies, plain.frequencies);
  const RopeTable yarn =
      table({.head_dim = 64, .rope_scaling = "yarn", .rope_factor = 4, .rope_original_context = 4096});
  EXPECT_FLOAT_EQ(yarn.frequencies[0], 1);
  EXPECT_FLOAT_EQ(yarn.frequencies[31], plain.frequencies[31] / 4);
  EXPECT_FLOAT_EQ(yarn.magnitude, 1 + 0.1f * std::log(4.0f));
}

}  // namespace
}  // namespace vase::model
