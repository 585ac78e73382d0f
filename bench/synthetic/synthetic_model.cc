#include "synthetic/synthetic_model.h"

#include <ggml-cpp.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "synthetic/byte_vocabulary.h"
#include "synthetic/weight_pool.h"
#include "vase/error.h"

namespace vase::synthetic {
namespace {

namespace fs = std::filesystem;

struct Shape {
  const char* name;
  int layers, embedding, feed_forward, query_heads, kv_heads;
  bool tied;
};
constexpr int kHeadDim = 128;  // of all Qwen3
constexpr int kVocabulary = 151936;
constexpr std::array kShapes = {
    Shape{"qwen3-0.6b", 28, 1024, 3072, 16, 8, true},
    Shape{"qwen3-4b", 36, 2560, 9728, 32, 8, true},
    Shape{"qwen3-14b", 40, 5120, 17408, 40, 8, false},
};

struct Encoding {
  const char* name;
  ggml_type matrices, head;  // the head's type is also the embedding's when the two are tied
};
constexpr std::array kEncodings = {
    Encoding{"f16", GGML_TYPE_F16, GGML_TYPE_F16},
    Encoding{"q8_0", GGML_TYPE_Q8_0, GGML_TYPE_Q8_0},
    Encoding{"q4_0", GGML_TYPE_Q4_0, GGML_TYPE_Q6_K},
    Encoding{"q4_k", GGML_TYPE_Q4_K, GGML_TYPE_Q6_K},
};

template <typename List>
const auto& find(const List& list, std::string_view name, const std::string& what) {
  std::string allowed;
  for (const auto& entry : list) {
    if (name == entry.name) return entry;
    allowed += std::string(allowed.empty() ? "" : ", ") + entry.name;
  }
  throw Error(ErrorCode::kUsage, "unknown " + what + " '" + std::string(name) + "'; allowed: " + allowed);
}

class Writer {
 public:
  Writer(const Shape& shape, const Encoding& encoding)
      : shape_(shape),
        encoding_(encoding),
        file_(gguf_init_empty()),
        context_(ggml_init({ggml_tensor_overhead() * (size_t(shape.layers) * 16 + 8), nullptr, true})) {
    add_keys();
    add_byte_vocabulary(file_.get(), kVocabulary);
    add_tensors();
  }

  uint64_t bytes() const {
    uint64_t sum = gguf_get_meta_size(file_.get());
    for (ggml_tensor* t = first(); t; t = next(t)) sum += padded(t);
    return sum;
  }

  void write(const std::string& path) const {
    if (!gguf_write_to_file(file_.get(), path.c_str(), true))
      throw Error(ErrorCode::kResource, "cannot write " + path);
    std::ofstream out(path, std::ios::binary | std::ios::app);
    WeightPool pool;
    for (ggml_tensor* t = first(); t; t = next(t)) {
      write_data(out, pool, t);
      const std::string padding(padded(t) - ggml_nbytes(t), '\0');
      out.write(padding.data(), std::streamsize(padding.size()));
    }
    out.close();
    if (!out) throw Error(ErrorCode::kResource, "cannot write " + path + "; is the disk full?");
  }

 private:
  ggml_tensor* first() const { return ggml_get_first_tensor(context_.get()); }
  ggml_tensor* next(ggml_tensor* t) const { return ggml_get_next_tensor(context_.get(), t); }
  uint64_t padded(const ggml_tensor* t) const {
    return GGML_PAD(ggml_nbytes(t), gguf_get_alignment(file_.get()));
  }

  void whole(const std::string& name, int value) {
    gguf_set_val_u32(file_.get(), ("qwen3." + name).c_str(), uint32_t(value));
  }

  void add_keys() {
    gguf_set_val_str(file_.get(), "general.architecture", "qwen3");
    gguf_set_val_str(file_.get(), "general.name", (std::string(shape_.name) + " (random weights)").c_str());
    whole("block_count", shape_.layers);
    whole("context_length", 40960);
    whole("embedding_length", shape_.embedding);
    whole("feed_forward_length", shape_.feed_forward);
    whole("attention.head_count", shape_.query_heads);
    whole("attention.head_count_kv", shape_.kv_heads);
    whole("attention.key_length", kHeadDim);
    whole("attention.value_length", kHeadDim);
    gguf_set_val_f32(file_.get(), "qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
    gguf_set_val_f32(file_.get(), "qwen3.rope.freq_base", 1e6f);
  }

  void add(const std::string& name, ggml_type type, int64_t columns, int64_t rows = 1) {
    ggml_tensor* tensor = rows == 1 ? ggml_new_tensor_1d(context_.get(), type, columns)
                                    : ggml_new_tensor_2d(context_.get(), type, columns, rows);
    ggml_set_name(tensor, (name + ".weight").c_str());
    gguf_add_tensor(file_.get(), tensor);
  }

  void add_tensors() {
    const int64_t width = shape_.embedding, q = int64_t(shape_.query_heads) * kHeadDim;
    const int64_t kv = int64_t(shape_.kv_heads) * kHeadDim;
    const ggml_type type = encoding_.matrices;
    add("token_embd", shape_.tied ? encoding_.head : type, width, kVocabulary);
    add("output_norm", GGML_TYPE_F32, width);
    if (!shape_.tied) add("output", encoding_.head, width, kVocabulary);
    for (int i = 0; i < shape_.layers; ++i) {
      const std::string layer = "blk." + std::to_string(i) + ".";
      add(layer + "attn_norm", GGML_TYPE_F32, width);
      add(layer + "attn_q", type, width, q);
      add(layer + "attn_k", type, width, kv);
      add(layer + "attn_v", type, width, kv);
      add(layer + "attn_output", type, q, width);
      add(layer + "attn_q_norm", GGML_TYPE_F32, kHeadDim);
      add(layer + "attn_k_norm", GGML_TYPE_F32, kHeadDim);
      add(layer + "ffn_norm", GGML_TYPE_F32, width);
      add(layer + "ffn_gate", type, width, shape_.feed_forward);
      add(layer + "ffn_up", type, width, shape_.feed_forward);
      add(layer + "ffn_down", type, shape_.feed_forward, width);
    }
  }

  static void write_data(std::ostream& out, WeightPool& pool, const ggml_tensor* t) {
    if (ggml_n_dims(t) > 1) {
      pool.write(out, t->type, t->ne[0], t->ne[1], 1);
      return;
    }
    const std::vector<float> ones(size_t(t->ne[0]), 1.0f);  // norms
    out.write(reinterpret_cast<const char*>(ones.data()), std::streamsize(ones.size() * sizeof(float)));
  }

  const Shape& shape_;
  const Encoding& encoding_;
  gguf_context_ptr file_;
  ggml_context_ptr context_;
};

void check_space(const std::string& dir, uint64_t needed) {
  const uint64_t free = fs::space(dir).available;
  if (free > needed) return;
  throw Error(ErrorCode::kResource, dir + ": " + std::to_string(needed >> 20) + " MiB are needed, " +
                                        std::to_string(free >> 20) + " MiB are free");
}

}  // namespace

std::string synthetic_model(std::string_view shape, std::string_view weights, const std::string& cache_dir) {
  const Writer writer(find(kShapes, shape, "shape"), find(kEncodings, weights, "weights"));
  const std::string path =
      (fs::path(cache_dir) / (std::string(shape) + "-" + std::string(weights) + ".gguf")).string();
  if (fs::exists(path)) return path;
  std::error_code error;
  fs::create_directories(cache_dir, error);
  if (error) throw Error(ErrorCode::kResource, cache_dir + ": cannot be created: " + error.message());
  check_space(cache_dir, writer.bytes());

  const std::string part = path + ".part-" + std::to_string(getpid());
  try {
    writer.write(part);
    fs::rename(part, path);
  } catch (...) {
    fs::remove(part, error);
    throw;
  }
  return path;
}

}  // namespace vase::synthetic
