#include "model/weights.h"

#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/fnv.h"
#include "ggml_log/quiet_ggml.h"
#include "model/gguf_file.h"
#include "model/hparams_reader.h"
#include "model/mapped_file.h"
#include "model/packed_matrices.h"
#include "model/tensor_check.h"

namespace vase::model {
namespace {

// Buffer types with faster layouts that this CPU has, best first: ggml's own order.
std::vector<ggml_backend_buffer_type_t> faster_layouts() {
  std::vector<ggml_backend_buffer_type_t> list;
  const auto get = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  if (get == nullptr) return list;
  for (auto* type = get(ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0)); type && *type; ++type) {
    list.push_back(*type);
  }
  return list;
}

// Asks the CPU backend whether it can multiply by this weight when it lies in a buffer of the type.
bool can_multiply(const ggml_tensor* weight, ggml_backend_buffer_type_t layout) {
  const ggml_context_ptr context(ggml_init({ggml_tensor_overhead() * 4, nullptr, true}));
  ggml_tensor* matrix = ggml_new_tensor_2d(context.get(), weight->type, weight->ne[0], weight->ne[1]);
  ggml_tensor* input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, weight->ne[0], 64);
  const ggml_backend_buffer_ptr empty(ggml_backend_buft_alloc_buffer(layout, 0));
  if (!empty) return false;
  matrix->buffer = empty.get();
  return ggml_backend_dev_supports_op(ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0),
                                      ggml_mul_mat(context.get(), matrix, input));
}

// The header, and 64 blocks of 4 KiB spread evenly over the data, the last one at the end.
std::string fingerprint_of(const GgufFile& file) {
  constexpr size_t kSamples = 64, kBlock = 4096;
  Fnv hash;
  hash.add(file.header());
  const auto data = file.bytes().subspan(file.header().size());
  const size_t span = data.size() > kBlock ? data.size() - kBlock : 0;
  for (size_t i = 0; i < kSamples; ++i) {
    hash.add(data.subspan(span * i / (kSamples - 1), std::min(kBlock, data.size())));
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash.value()));
  return digits;
}

// Tensors that share one layout: created first, then allocated together, then filled.
struct LayoutGroup {
  ggml_context_ptr context;
  ggml_backend_buffer_ptr buffer;
  struct Copy {
    ggml_tensor* tensor;
    const ggml_tensor* source;
  };
  std::vector<Copy> copies;
};

}  // namespace

struct Weights::Impl {
  explicit Impl(const std::string& path, const LoadOptions& options)
      : mapping(path), file(mapping.bytes(), path), hparams(validate_model(file)),
        own_products(options.layout == WeightLayout::kOwn) {
    const QuietGgml quiet;
    if (options.layout != WeightLayout::kFile) layouts = faster_layouts();
    void* base = const_cast<std::byte*>(mapping.bytes().data());
    mapped.reset(ggml_backend_cpu_buffer_from_ptr(base, mapping.bytes().size()));

    token_embedding = map(file.find_tensor("token_embd.weight"));
    output_norm = vector("output_norm.weight");
    rope_factors = vector("rope_freqs.weight");
    layers.resize(size_t(hparams.layers));
    for (int i = 0; i < hparams.layers; ++i) place_layer(i);
    place(output, hparams.tied_embeddings ? "token_embd.weight" : "output.weight");
    fill_layouts(path);
    packed.fill(file, mapping);
    print = fingerprint_of(file);
  }

  // A tensor used as it lies in the file.
  ggml_tensor* map(ggml_tensor* tensor) {
    if (tensor->data == nullptr) {
      ggml_backend_tensor_alloc(mapped.get(), tensor, const_cast<std::byte*>(file.data(tensor).data()));
    }
    return tensor;
  }

  ggml_tensor* vector(const std::string& name) {
    ggml_tensor* tensor = file.find_tensor(name);
    return tensor ? map(tensor) : nullptr;
  }

  void place(Matrix& matrix, const std::string& name) {
    ggml_tensor* source = file.find_tensor(name);
    const auto shape = own_products ? packable(source) : std::nullopt;
    if (shape) return packed.add(matrix, *shape, source);
    for (const ggml_backend_buffer_type_t layout : layouts) {
      if (can_multiply(source, layout)) {
        matrix.tensor = add_copy(layout, source);
        return;
      }
    }
    matrix.tensor = map(source);
  }

  ggml_tensor* add_copy(ggml_backend_buffer_type_t layout, const ggml_tensor* source) {
    LayoutGroup& group = groups[layout];
    if (!group.context) {
      group.context.reset(ggml_init({ggml_tensor_overhead() * size_t(file.tensors() + 1), nullptr, true}));
    }
    ggml_tensor* tensor = ggml_new_tensor_2d(group.context.get(), source->type, source->ne[0], source->ne[1]);
    ggml_set_name(tensor, ggml_get_name(source));
    group.copies.push_back({tensor, source});
    return tensor;
  }

  void place_layer(int i) {
    const auto name = [i](const char* part) { return layer_tensor(i, part); };
    LayerWeights& w = layers[size_t(i)];
    w.attn_norm = vector(name("attn_norm.weight"));
    place(w.wq, name("attn_q.weight"));
    place(w.wk, name("attn_k.weight"));
    place(w.wv, name("attn_v.weight"));
    place(w.wo, name("attn_output.weight"));
    w.bq = vector(name("attn_q.bias"));
    w.bk = vector(name("attn_k.bias"));
    w.bv = vector(name("attn_v.bias"));
    w.bo = vector(name("attn_output.bias"));
    w.q_norm = vector(name("attn_q_norm.weight"));
    w.k_norm = vector(name("attn_k_norm.weight"));
    w.ffn_norm = vector(name("ffn_norm.weight"));
    place(w.gate, name("ffn_gate.weight"));
    place(w.up, name("ffn_up.weight"));
    place(w.down, name("ffn_down.weight"));
    w.rope_factors = rope_factors;
  }

  // Converts the copies. Pages of the file that are not used any more go back to the system as we go.
  void fill_layouts(const std::string& path) {
    for (auto& [layout, group] : groups) {
      group.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(group.context.get(), layout));
      if (!group.buffer) {
        throw Error(ErrorCode::kResource, path + ": not enough memory to lay out the weights for this CPU");
      }
      const size_t size = ggml_backend_buffer_get_size(group.buffer.get());
      advise_huge_pages(ggml_backend_buffer_get_base(group.buffer.get()), size);
      for (const LayoutGroup::Copy& copy : group.copies) {
        const auto data = file.data(copy.source);
        ggml_backend_tensor_set(copy.tensor, data.data(), 0, data.size());
        if (copy.source->data == nullptr) mapping.forget(data);
      }
    }
  }

  static void advise_huge_pages(void* base, size_t size) {
    constexpr uintptr_t kHuge = uintptr_t(2) << 20;
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(base) + kHuge - 1) / kHuge * kHuge;
    const uintptr_t end = (reinterpret_cast<uintptr_t>(base) + size) / kHuge * kHuge;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }

  MappedFile mapping;
  GgufFile file;
  HParams hparams;
  ggml_backend_buffer_ptr mapped;
  bool own_products;
  PackedMatrices packed;
  std::vector<ggml_backend_buffer_type_t> layouts;
  std::map<ggml_backend_buffer_type_t, LayoutGroup> groups;

  std::vector<LayerWeights> layers;
  ggml_tensor *token_embedding = nullptr, *output_norm = nullptr, *rope_factors = nullptr;
  Matrix output;
  std::string print;
};

Weights::Weights() = default;
Weights::~Weights() = default;

std::shared_ptr<const Weights> Weights::load(const std::string& path, const LoadOptions& options) {
  const std::shared_ptr<Weights> weights(new Weights);
  weights->impl_ = std::make_unique<Impl>(path, options);
  return weights;
}

const HParams& Weights::hparams() const { return impl_->hparams; }
const std::vector<LayerWeights>& Weights::layers() const { return impl_->layers; }
ggml_tensor* Weights::token_embedding() const { return impl_->token_embedding; }
ggml_tensor* Weights::output_norm() const { return impl_->output_norm; }
const Matrix& Weights::output() const { return impl_->output; }
uint64_t Weights::file_bytes() const { return impl_->mapping.bytes().size(); }
std::string Weights::fingerprint() const { return impl_->print; }

ModelHeader read_header(const std::string& path) {
  const MappedFile mapping(path);
  const GgufFile file(mapping.bytes(), path);
  return {validate_model(file), mapping.bytes().size(), fingerprint_of(file)};
}

}  // namespace vase::model
