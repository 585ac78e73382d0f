#include "support/tiny_gguf.h"

#include <ggml-cpp.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>

namespace vase::test {
namespace {

constexpr int kCycleEmbedding = 512;  // at least one channel per token

class Writer {
 public:
  explicit Writer(const TinyOptions& options) : o_(options), random_(options.seed), file_(gguf_init_empty()) {
    if (o_.embedding == 0) o_.embedding = o_.cycle.empty() ? o_.query_heads * o_.head_dim : kCycleEmbedding;
    const size_t matrices =
        size_t(o_.embedding) *
        (2 * size_t(o_.vocabulary) +
         size_t(o_.layers) * (3 * size_t(o_.feed_forward) + 4 * size_t(o_.query_heads * o_.head_dim)));
    context_.reset(ggml_init({matrices * sizeof(float) + (size_t(16) << 20), nullptr, false}));
  }

  void write(const std::string& path) {
    add_keys();
    synthetic::add_byte_vocabulary(file_.get(), o_.vocabulary);
    if (o_.opens_thinking) open_thinking();
    add_tensors();
    if (!gguf_write_to_file(file_.get(), path.c_str(), false))
      throw std::runtime_error("cannot write " + path);
  }

 private:
  std::string key(const char* name) const { return o_.family + "." + name; }
  void whole(const char* name, int value) {
    gguf_set_val_u32(file_.get(), key(name).c_str(), uint32_t(value));
  }
  void number(const char* name, float value) { gguf_set_val_f32(file_.get(), key(name).c_str(), value); }

  void open_thinking() {
    constexpr const char* kKey = "tokenizer.chat_template";
    const std::string prompt = "<|im_start|>assistant\n";
    std::string text = gguf_get_val_str(file_.get(), gguf_find_key(file_.get(), kKey));
    text.insert(text.rfind(prompt) + prompt.size(), "<think>\n");
    gguf_set_val_str(file_.get(), kKey, text.c_str());
  }

  void add_keys() {
    gguf_set_val_str(file_.get(), "general.architecture", o_.family.c_str());
    gguf_set_val_str(file_.get(), "general.name", "tiny");
    whole("block_count", o_.layers);
    whole("context_length", o_.context);
    whole("embedding_length", o_.embedding);
    whole("feed_forward_length", o_.feed_forward);
    whole("attention.head_count", o_.query_heads);
    whole("attention.head_count_kv", o_.kv_heads);
    whole("attention.key_length", o_.head_dim);
    whole("attention.value_length", o_.head_dim);
    number("attention.layer_norm_rms_epsilon", 1e-5f);
    whole("rope.dimension_count", o_.head_dim);
    number("rope.freq_base", o_.rope_base);
    whole("vocab_size", o_.vocabulary);
    if (o_.rope_scaling.empty()) return;
    gguf_set_val_str(file_.get(), key("rope.scaling.type").c_str(), o_.rope_scaling.c_str());
    number("rope.scaling.factor", o_.rope_factor);
    if (o_.rope_original_context > 0) whole("rope.scaling.original_context_length", o_.rope_original_context);
    if (o_.rope_attn_factor > 0) number("rope.scaling.attn_factor", o_.rope_attn_factor);
  }

  // Numbers spread evenly around `mean` with the given deviation, stored as `type`.
  ggml_tensor* add(const std::string& name, ggml_type type, int columns, int rows, float mean,
                   float deviation) {
    std::vector<float> values(size_t(columns) * size_t(rows));
    const float width = deviation * std::sqrt(12.0f);
    for (float& value : values) value = mean + width * (float(random_() >> 40) * 0x1p-24f - 0.5f);
    ggml_tensor* tensor = rows == 1 ? ggml_new_tensor_1d(context_.get(), type, columns)
                                    : ggml_new_tensor_2d(context_.get(), type, columns, rows);
    ggml_set_name(tensor, name.c_str());
    ggml_quantize_chunk(type, values.data(), tensor->data, 0, rows, columns, nullptr);
    gguf_add_tensor(file_.get(), tensor);
    return tensor;
  }
  void matrix(const std::string& name, int columns, int rows, float scale = 1) {
    add(name + ".weight", o_.type, columns, rows, 0, scale / std::sqrt(float(columns)));
  }
  void norm(const std::string& name, int size) { add(name + ".weight", GGML_TYPE_F32, size, 1, 1, 0.1f); }
  void bias(const std::string& name, int size) { add(name + ".bias", GGML_TYPE_F32, size, 1, 0, 0.2f); }

  void add_tensors() {
    const bool cycle = !o_.cycle.empty();
    if (cycle) {
      add_cycle();
    } else {
      ggml_tensor* embedding = add("token_embd.weight", o_.type, o_.embedding, o_.vocabulary, 0, 1);
      if (o_.nan_token >= 0) {
        auto* row = static_cast<float*>(embedding->data) + size_t(o_.nan_token) * size_t(o_.embedding);
        std::fill(row, row + o_.embedding, std::numeric_limits<float>::quiet_NaN());
      }
      if (!o_.tied) matrix("output", o_.embedding, o_.vocabulary, 2);
    }
    add("output_norm.weight", GGML_TYPE_F32, o_.embedding, 1, 1, cycle ? 0 : 0.1f);
    if (o_.rope_factors) {
      ggml_tensor* factors = add("rope_freqs.weight", GGML_TYPE_F32, o_.head_dim / 2, 1, 1, 0);
      for (int i = 0; i < o_.head_dim / 2; ++i)
        static_cast<float*>(factors->data)[i] = 1 + 7.0f * float(i) / float(o_.head_dim);
    }
    for (int i = 0; i < o_.layers; ++i) add_layer("blk." + std::to_string(i) + ".", cycle ? 0 : 1);
  }

  // `output_scale` 0: the layer adds nothing to the residual stream.
  void add_layer(const std::string& layer, float output_scale) {
    const int q = o_.query_heads * o_.head_dim, kv = o_.kv_heads * o_.head_dim;
    norm(layer + "attn_norm", o_.embedding);
    matrix(layer + "attn_q", o_.embedding, q, 2);
    matrix(layer + "attn_k", o_.embedding, kv, 2);
    matrix(layer + "attn_v", o_.embedding, kv);
    matrix(layer + "attn_output", q, o_.embedding, output_scale);
    if (o_.qkv_bias || o_.family == "qwen2") {
      bias(layer + "attn_q", q);
      bias(layer + "attn_k", kv);
      bias(layer + "attn_v", kv);
    }
    if (o_.output_bias) bias(layer + "attn_output", o_.embedding);
    if (o_.family == "qwen3") {
      norm(layer + "attn_q_norm", o_.head_dim);
      norm(layer + "attn_k_norm", o_.head_dim);
    }
    norm(layer + "ffn_norm", o_.embedding);
    matrix(layer + "ffn_gate", o_.embedding, o_.feed_forward);
    matrix(layer + "ffn_up", o_.embedding, o_.feed_forward);
    matrix(layer + "ffn_down", o_.feed_forward, o_.embedding, output_scale);
  }

  // Embedding of token t: one channel of its own. Output row n: ones at the channels of the tokens that n
  // follows.
  void add_cycle() {
    auto* embedding =
        static_cast<float*>(add("token_embd.weight", GGML_TYPE_F32, o_.embedding, o_.vocabulary, 0, 0)->data);
    auto* output =
        static_cast<float*>(add("output.weight", GGML_TYPE_F32, o_.embedding, o_.vocabulary, 0, 0)->data);
    std::vector<int32_t> next(size_t(o_.vocabulary), o_.cycle[0]);
    for (size_t i = 0; i < o_.cycle.size(); ++i)
      next[size_t(o_.cycle[i])] = o_.cycle[(i + 1) % o_.cycle.size()];
    for (size_t t = 0; t < next.size(); ++t) {
      embedding[t * size_t(o_.embedding) + t] = 1;
      output[size_t(next[t]) * size_t(o_.embedding) + t] = 1;
    }
  }

  TinyOptions o_;
  std::mt19937_64 random_;
  gguf_context_ptr file_;
  ggml_context_ptr context_;
};

}  // namespace

void write_tiny_gguf(const std::string& path, const TinyOptions& options) { Writer(options).write(path); }

TinyModel::TinyModel(const TinyOptions& options) : path_(temporary_path(".gguf")) {
  write_tiny_gguf(path_, options);
}
TinyModel::~TinyModel() { std::filesystem::remove(path_); }

std::string temporary_path(const std::string& suffix) {
  static std::atomic<int> next{0};
  const std::string name = "vase-test-" + std::to_string(getpid()) + "-" + std::to_string(next++) + suffix;
  return (std::filesystem::temp_directory_path() / name).string();
}

std::vector<int32_t> tiny_text(int count, uint64_t seed) {
  static constexpr const char* kWords[] = {"the ", "of ",     "so ",    "we ",   "get ",  "number ",
                                           "is ",  "sum ",    "then ",  "x = ",  "12 + ", "and ",
                                           "let ", "prime. ", "even, ", "half ", "n ",    "why? "};
  std::mt19937_64 random(seed);
  std::vector<int32_t> tokens;
  while (int(tokens.size()) < count) {
    for (const char* c = kWords[random() % std::size(kWords)]; *c && int(tokens.size()) < count; ++c) {
      tokens.push_back(static_cast<unsigned char>(*c));
    }
  }
  return tokens;
}

}  // namespace vase::test
