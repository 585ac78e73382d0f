// Checks the freshly built ggml on this CPU: matrix products in every weight buffer that the CPU backend
// offers (plain, repacked, AMX) against a plain loop. A compiler that emits instructions the machine lacks,
// or gets them wrong, shows here and not in a user's text.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

constexpr int kInner = 512;  // length of a dot product
constexpr int kRows = 128;   // rows of the weight matrix

std::vector<float> random_values(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

double dot(const float* a, const float* b) {
  double sum = 0;
  for (int i = 0; i < kInner; ++i) sum += double(a[i]) * b[i];
  return sum;
}

std::vector<uint8_t> quantise(ggml_type type, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(ggml_row_size(type, kInner) * kRows);
  ggml_quantize_chunk(type, values.data(), bytes.data(), 0, kRows, kInner, nullptr);
  return bytes;
}

std::vector<float> dequantise(ggml_type type, const std::vector<uint8_t>& bytes) {
  std::vector<float> values(size_t(kInner) * kRows);
  const auto* traits = ggml_get_type_traits(type);
  if (traits->to_float == nullptr) return {reinterpret_cast<const float*>(bytes.data()),
                                           reinterpret_cast<const float*>(bytes.data()) + values.size()};
  traits->to_float(bytes.data(), values.data(), int64_t(values.size()));
  return values;
}

// Largest error of weights x activations, as a share of the product of the two vectors' norms; -1 where the
// buffer does not take this type.
double product_error(ggml_backend_t backend, ggml_backend_buffer_type_t buffer_type, ggml_type type, int columns) {
  ggml_init_params params{ggml_tensor_overhead() * 8 + ggml_graph_overhead(), nullptr, true};
  ggml_context* weight_context = ggml_init(params);
  ggml_context* context = ggml_init(params);
  ggml_tensor* weights = ggml_new_tensor_2d(weight_context, type, kInner, kRows);
  ggml_tensor* input = ggml_new_tensor_2d(context, GGML_TYPE_F32, kInner, columns);
  ggml_tensor* output = ggml_mul_mat(context, weights, input);
  ggml_backend_buffer_t weight_buffer = ggml_backend_alloc_ctx_tensors_from_buft(weight_context, buffer_type);
  double worst = -1;
  if (weight_buffer != nullptr && ggml_backend_supports_op(backend, output)) {
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(context, backend);
    const auto bytes = quantise(type, random_values(size_t(kInner) * kRows, 1));
    const auto plain = dequantise(type, bytes);
    const auto activations = random_values(size_t(kInner) * columns, 2);
    ggml_backend_tensor_set(weights, bytes.data(), 0, bytes.size());
    ggml_backend_tensor_set(input, activations.data(), 0, ggml_nbytes(input));
    ggml_cgraph* graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, output);
    ggml_backend_graph_compute(backend, graph);
    std::vector<float> result(size_t(kRows) * columns);
    ggml_backend_tensor_get(output, result.data(), 0, ggml_nbytes(output));
    worst = 0;
    for (int column = 0; column < columns; ++column) {
      for (int row = 0; row < kRows; ++row) {
        const float* w = &plain[size_t(row) * kInner];
        const float* x = &activations[size_t(column) * kInner];
        const double error = std::abs(result[size_t(column) * kRows + row] - dot(w, x));
        const double share = error / std::sqrt(dot(w, w) * dot(x, x));
        worst = std::isfinite(share) ? std::max(worst, share) : INFINITY;
      }
    }
    ggml_backend_buffer_free(buffer);
  }
  ggml_backend_buffer_free(weight_buffer);
  ggml_free(context);
  ggml_free(weight_context);
  return worst;
}

std::vector<ggml_backend_buffer_type_t> weight_buffer_types(ggml_backend_dev_t device) {
  std::vector<ggml_backend_buffer_type_t> types{ggml_backend_dev_buffer_type(device)};
  const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return types;
  for (auto* type = extra(device); type != nullptr && *type != nullptr; ++type) types.push_back(*type);
  return types;
}

}  // namespace

int main() {
  ggml_backend_t backend = ggml_backend_cpu_init();
  ggml_backend_cpu_set_n_threads(backend, 2);
  int failures = 0;
  for (auto* buffer_type : weight_buffer_types(ggml_backend_get_device(backend))) {
    for (ggml_type type : {GGML_TYPE_F32, GGML_TYPE_Q4_0, GGML_TYPE_Q8_0}) {
      // ggml rounds activations to 8 bits for quantised weights: about 0.4 % of a value, less after summing.
      const double allowed = type == GGML_TYPE_F32 ? 1e-5 : 2e-3;
      for (int columns : {1, 33}) {
        const double error = product_error(backend, buffer_type, type, columns);
        if (error < 0) continue;
        const bool ok = error <= allowed;
        failures += !ok;
        std::printf("%-12s %-5s %3d columns: error %.1e %s\n", ggml_backend_buft_name(buffer_type),
                    ggml_type_name(type), columns, error, ok ? "ok" : "WRONG");
        std::fflush(stdout);
      }
    }
  }
  ggml_backend_free(backend);
  return failures == 0 ? 0 : 1;
}
