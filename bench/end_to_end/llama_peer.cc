#include "end_to_end/llama_peer.h"

#include <ggml.h>
#include <llama.h>

#include <cstring>
#include <random>
#include <span>

#include "base/half.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

void append_bytes(std::vector<uint8_t>& out, const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  out.insert(out.end(), p, p + bytes);
}

template <typename T>
void append_value(std::vector<uint8_t>& out, T value) {
  append_bytes(out, &value, sizeof(value));
}

// A few megabytes of random elements.
std::vector<uint8_t> random_elements(RowType type) {
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  std::vector<uint8_t> pool;
  for (int i = 0; i < 1 << 20; ++i) {
    const float x = normal(rng);
    type == RowType::kF16 ? append_value(pool, to_half(x)) : append_value(pool, x);
  }
  return pool;
}

// The pool, repeated.
void append_rows(std::vector<uint8_t>& out, std::span<const uint8_t> pool, size_t bytes) {
  while (bytes > 0) {
    const size_t part = std::min(bytes, pool.size());
    append_bytes(out, pool.data(), part);
    bytes -= part;
  }
}

ggml_type ggml_type_of(RowType type) { return type == RowType::kF16 ? GGML_TYPE_F16 : GGML_TYPE_F32; }

// A sequence state of libllama with `depth` cells at positions 0 .. depth-1: stream and cell counts, position
// and sequence of every cell, then the rows of all layers. With flash attention values are stored as rows,
// without it transposed; the bytes of the data are as many.
std::vector<uint8_t> synthetic_state(llama_context* context, const llama_model* model,
                                     const PeerOptions& options) {
  std::vector<uint8_t> empty(llama_state_seq_get_size(context, 0));
  llama_state_seq_get_data(context, empty.data(), empty.size(), 0);
  if (empty.size() < 8) throw Error(ErrorCode::kUnsupported, "this libllama has another state format");

  const uint32_t layers = llama_model_n_layer(model);
  const uint32_t depth = options.depth;
  const uint32_t width = llama_model_n_embd(model) / llama_model_n_head(model) * llama_model_n_head_kv(model);
  char head_dim[32] = "";
  char key[64];
  llama_model_meta_val_str(model, "general.architecture", head_dim, sizeof(head_dim));
  std::snprintf(key, sizeof(key), "%s.attention.key_length", head_dim);
  const bool explicit_dim = llama_model_meta_val_str(model, key, head_dim, sizeof(head_dim)) > 0;
  const uint32_t row = explicit_dim ? std::atoi(head_dim) * llama_model_n_head_kv(model) : width;

  const int32_t type = ggml_type_of(options.kv_type);
  const size_t row_bytes = row * row_element_bytes(options.kv_type);
  const std::vector<uint8_t> pool = random_elements(options.kv_type);

  std::vector<uint8_t> state(empty.begin(), empty.begin() + 8);  // magic, source sequence
  state.reserve(size_t(layers) * depth * row_bytes * 2 + (1 << 20));
  append_value<uint32_t>(state, options.sequences);  // streams; the first one here carries the cells
  append_value<uint32_t>(state, depth);
  for (uint32_t i = 0; i < depth; ++i) {
    append_value<int32_t>(state, static_cast<int32_t>(i));
    append_value<uint32_t>(state, 1);
    append_value<int32_t>(state, 0);
  }
  const bool transposed = !options.flash_attention;
  append_value<uint32_t>(state, transposed ? 1 : 0);
  append_value<uint32_t>(state, layers);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    append_value<int32_t>(state, type);
    append_value<uint64_t>(state, row_bytes);
    append_rows(state, pool, depth * row_bytes);
  }
  for (uint32_t layer = 0; layer < layers; ++layer) {
    append_value<int32_t>(state, type);
    if (transposed) {
      append_value<uint32_t>(state, static_cast<uint32_t>(row_element_bytes(options.kv_type)));
      append_value<uint32_t>(state, row);
    } else {
      append_value<uint64_t>(state, row_bytes);
    }
    append_rows(state, pool, depth * row_bytes);
  }
  for (int s = 1; s < options.sequences; ++s) append_value<uint32_t>(state, 0);
  return state;
}

}  // namespace

struct LlamaPeer::Impl {
  llama_context* context = nullptr;
  llama_batch batch{};
  PeerOptions options;
  int vocabulary = 0;
  int seen = 0;
};

LlamaModel::LlamaModel(const std::string& path) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  model_ = llama_model_load_from_file(path.c_str(), llama_model_default_params());
  if (!model_) throw Error(ErrorCode::kUnsupported, "libllama cannot load " + path);
}

LlamaModel::~LlamaModel() { llama_model_free(static_cast<llama_model*>(model_)); }

LlamaPeer::LlamaPeer(const LlamaModel& model, const PeerOptions& options) : impl_(std::make_unique<Impl>()) {
  auto* llama = static_cast<llama_model*>(model.get());
  llama_context_params params = llama_context_default_params();
  params.n_ctx = (options.depth + options.steps + 255) / 256 * 256 * options.sequences;
  params.n_batch = params.n_ubatch = 512;
  params.n_seq_max = options.sequences;
  params.n_threads = params.n_threads_batch = options.threads;
  params.flash_attn_type =
      options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = params.type_v = ggml_type_of(options.kv_type);
  params.kv_unified = false;
  impl_->options = options;
  impl_->vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(llama));
  impl_->context = llama_init_from_model(llama, params);
  if (!impl_->context) throw Error(ErrorCode::kResource, "libllama cannot make a context of this size");
  impl_->batch = llama_batch_init(options.sequences, 0, 1);
  impl_->seen = options.depth;
  if (options.depth == 0) return;
  const std::vector<uint8_t> state = synthetic_state(impl_->context, llama, options);
  for (int s = 0; s < options.sequences; ++s) {
    if (llama_state_seq_set_data(impl_->context, state.data(), state.size(), s) == 0) {
      throw Error(ErrorCode::kUnsupported, "this libllama refuses a synthetic state");
    }
  }
}

LlamaPeer::~LlamaPeer() {
  llama_batch_free(impl_->batch);
  llama_free(impl_->context);
}

void LlamaPeer::step() {
  llama_batch& batch = impl_->batch;
  batch.n_tokens = impl_->options.sequences;
  for (int i = 0; i < batch.n_tokens; ++i) {
    batch.token[i] = static_cast<int32_t>((int64_t(impl_->seen) * 7919 + i * 104729) % impl_->vocabulary);
    batch.pos[i] = impl_->seen;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = i;
    batch.logits[i] = 1;
  }
  if (llama_decode(impl_->context, batch) != 0)
    throw Error(ErrorCode::kResource, "libllama failed to decode");
  llama_synchronize(impl_->context);
  ++impl_->seen;
}

}  // namespace vase::bench
