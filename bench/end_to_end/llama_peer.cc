#include "end_to_end/llama_peer.h"

#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <llama-cpp.h>

#include <algorithm>
#include <vector>

#include "end_to_end/llama_state.h"
#include "end_to_end/prompt_chunks.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

constexpr int kBatch = 512;  // tokens that libllama computes at a time by default

struct FreeThreadpool {
  void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
};

ggml_type ggml_type_of(RowType type) {
  switch (type) {
    case RowType::kF32: return GGML_TYPE_F32;
    case RowType::kF16: return GGML_TYPE_F16;
    case RowType::kBF16: return GGML_TYPE_BF16;
    case RowType::kQ8_0: return GGML_TYPE_Q8_0;
    case RowType::kQ4_0: return GGML_TYPE_Q4_0;
  }
  throw Error(ErrorCode::kUnsupported, "libllama has no rows of this type; use another --kv-type, or no --peer");
}

LlamaStateOptions state_options(const PeerOptions& options) {
  return {.sequences = options.sequences,
          .depth = options.depth,
          .kv_type = ggml_type_of(options.kv_type),
          .transposed_values = !options.flash_attention};
}

int batch_tokens(const PeerOptions& options) {
  return options.prompts ? std::max(options.sequences, kBatch) : options.sequences;
}

// Positions of one sequence, which libllama rounds up.
uint32_t context_of(const PeerOptions& options) { return (options.depth + options.tokens + 255) / 256 * 256; }

llama_context_params context_params(const PeerOptions& options) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = context_of(options) * options.sequences;
  params.n_batch = params.n_ubatch = batch_tokens(options);
  params.n_seq_max = options.sequences;
  params.n_threads = params.n_threads_batch = options.threads;
  params.flash_attn_type =
      options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = params.type_v = ggml_type_of(options.kv_type);
  params.kv_unified = false;
  return params;
}

}  // namespace

struct LlamaPeer::Impl {
  Impl(llama_model* model, const ModelShape& model_shape, const PeerOptions& wanted)
      : shape(model_shape), options(wanted), seen(wanted.sequences, wanted.depth) {
    // As llama-bench has it: threads that live as long as the context.
    ggml_threadpool_params pool_params = ggml_threadpool_params_default(options.threads);
    pool.reset(ggml_threadpool_new(&pool_params));
    context.reset(llama_init_from_model(model, context_params(options)));
    if (!context) throw Error(ErrorCode::kResource, "libllama cannot make a context of this size");
    llama_attach_threadpool(context.get(), pool.get(), nullptr);
    batch = llama_batch_init(batch_tokens(options), 0, 1);
  }
  ~Impl() { llama_batch_free(batch); }

  void fill() {
    const std::vector<uint8_t> state = synthetic_state(context.get(), shape, state_options(options));
    for (int s = 0; s < options.sequences; ++s) {
      if (llama_state_seq_set_data(context.get(), state.data(), state.size(), s) == 0) {
        throw Error(ErrorCode::kUnsupported, "this libllama refuses a synthetic state");
      }
    }
  }

  void rewind() {
    for (int s = 0; s < options.sequences; ++s) {
      llama_memory_seq_rm(llama_get_memory(context.get()), s, options.depth, -1);
      seen[s] = options.depth;
    }
  }

  void add(int sequence, bool wanted) {
    const int i = batch.n_tokens++;
    batch.token[i] =
        static_cast<int32_t>((int64_t(seen[sequence]) * 7919 + sequence * 104729) % shape.vocabulary);
    batch.pos[i] = seen[sequence]++;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = sequence;
    batch.logits[i] = wanted;
  }

  void run() {
    if (llama_decode(context.get(), batch) != 0)
      throw Error(ErrorCode::kResource, "libllama failed to decode");
    llama_synchronize(context.get());
    batch.n_tokens = 0;
  }

  ModelShape shape;
  PeerOptions options;
  std::unique_ptr<ggml_threadpool, FreeThreadpool> pool;
  llama_context_ptr context;
  llama_batch batch{};
  std::vector<int> seen;  // [sequences]
};

LlamaModel::LlamaModel(const std::string& path) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  model_ = llama_model_load_from_file(path.c_str(), llama_model_default_params());
  if (!model_) throw Error(ErrorCode::kUnsupported, "libllama cannot load " + path);
}

LlamaModel::~LlamaModel() { llama_model_free(static_cast<llama_model*>(model_)); }

LlamaPeer::LlamaPeer(const LlamaModel& model, const ModelShape& shape, const PeerOptions& options)
    : impl_(std::make_unique<Impl>(static_cast<llama_model*>(model.get()), shape, options)) {
  if (options.depth > 0) impl_->fill();
}

LlamaPeer::~LlamaPeer() = default;

// The cache, the state that fills it, and without flash attention the scores of a batch, before and behind
// the softmax.
uint64_t LlamaPeer::bytes_for(const ModelShape& shape, const PeerOptions& options) {
  const uint64_t context = context_of(options);
  LlamaStateOptions full = state_options(options);
  full.depth = static_cast<int>(context);
  const uint64_t cache = synthetic_state_bytes(shape, full) * options.sequences;
  const uint64_t scores =
      options.flash_attention ? 0 : 2 * sizeof(float) * context * shape.query_heads * batch_tokens(options);
  return cache + synthetic_state_bytes(shape, state_options(options)) + scores;
}

void LlamaPeer::start() {
  impl_->rewind();
  step();
  impl_->rewind();
}

void LlamaPeer::read_prompts(int tokens, const std::function<void(int)>& on_chunk) {
  const auto whole = [](int, int wanted) { return wanted; };
  for (PromptChunks chunks(impl_->options.sequences, tokens); !chunks.done(); on_chunk(chunks.finished())) {
    for (const PromptPart& part : chunks.next(kBatch, whole)) {
      for (int i = 1; i <= part.tokens; ++i) impl_->add(part.sequence, part.last && i == part.tokens);
    }
    impl_->run();
  }
}

void LlamaPeer::step() {
  for (int s = 0; s < impl_->options.sequences; ++s) impl_->add(s, true);
  impl_->run();
}

}  // namespace vase::bench
