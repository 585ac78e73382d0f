#include "model/tensor_check.h"

#include <ggml.h>

#include <cmath>
#include <cstring>
#include <unordered_set>
#include <vector>

namespace vase::model {
namespace {

constexpr int64_t kLargestVocabulary = 1 << 24;

struct Expected {
  std::string name;
  int64_t columns = 0, rows = 1;  // rows = 1: a vector
  bool optional = false;
};

std::string shape_text(int64_t columns, int64_t rows) {
  return rows == 1 ? std::to_string(columns) : std::to_string(columns) + " x " + std::to_string(rows);
}

std::vector<Expected> layer_tensors(const HParams& h, int layer) {
  const int64_t q = int64_t(h.query_heads) * h.head_dim, kv = int64_t(h.kv_heads) * h.head_dim;
  const auto name = [layer](const char* part) { return layer_tensor(layer, part); };
  std::vector<Expected> list = {
      {name("attn_norm.weight"), h.embedding},
      {name("attn_q.weight"), h.embedding, q},
      {name("attn_k.weight"), h.embedding, kv},
      {name("attn_v.weight"), h.embedding, kv},
      {name("attn_output.weight"), q, h.embedding},
      {name("ffn_norm.weight"), h.embedding},
      {name("ffn_gate.weight"), h.embedding, h.feed_forward},
      {name("ffn_up.weight"), h.embedding, h.feed_forward},
      {name("ffn_down.weight"), h.feed_forward, h.embedding},
      {name("attn_q.bias"), q, 1, true},
      {name("attn_k.bias"), kv, 1, true},
      {name("attn_v.bias"), kv, 1, true},
  };
  if (h.architecture == "llama") list.push_back({name("attn_output.bias"), h.embedding, 1, true});
  if (h.qk_norm) {
    list.push_back({name("attn_q_norm.weight"), h.head_dim});
    list.push_back({name("attn_k_norm.weight"), h.head_dim});
  }
  return list;
}

std::vector<Expected> model_tensors(const HParams& h) {
  std::vector<Expected> list = {
      {"token_embd.weight", h.embedding, h.vocabulary},
      {"output_norm.weight", h.embedding},
      {"output.weight", h.embedding, h.vocabulary, true},
  };
  if (h.architecture == "llama") list.push_back({"rope_freqs.weight", h.rope_dims / 2, 1, true});
  for (int layer = 0; layer < h.layers; ++layer) {
    for (Expected& tensor : layer_tensors(h, layer)) list.push_back(std::move(tensor));
  }
  return list;
}

void check_one(const GgufFile& file, const HParams& h, const Expected& expected) {
  const ggml_tensor* tensor = file.find_tensor(expected.name);
  if (tensor == nullptr) {
    if (expected.optional) return;
    file.fail(ErrorCode::kCorrupt,
              "tensor " + expected.name + " not found (architecture " + h.architecture + " expects it)");
  }
  if (tensor->ne[0] != expected.columns || tensor->ne[1] != expected.rows || tensor->ne[2] != 1 ||
      tensor->ne[3] != 1) {
    file.fail(ErrorCode::kCorrupt, "tensor " + expected.name + " has the shape " +
                                       shape_text(tensor->ne[0], ggml_nelements(tensor) / tensor->ne[0]) +
                                       "; " + shape_text(expected.columns, expected.rows) + " is needed");
  }
  if (expected.rows == 1 && tensor->type != GGML_TYPE_F32) {
    file.fail(ErrorCode::kUnsupported, "tensor " + expected.name + " is of type " +
                                           ggml_type_name(tensor->type) + "; vectors must be f32");
  }
}

// RoPE divides by these.
void check_rope_factors(const GgufFile& file) {
  const ggml_tensor* tensor = file.find_tensor("rope_freqs.weight");
  if (tensor == nullptr) return;
  const std::span<const std::byte> data = file.data(tensor);
  for (size_t at = 0; at < data.size(); at += sizeof(float)) {
    float factor;
    std::memcpy(&factor, data.data() + at, sizeof factor);
    if (!std::isfinite(factor) || factor <= 0) {
      file.fail(ErrorCode::kCorrupt, "tensor rope_freqs.weight has a factor that is not a positive number");
    }
  }
}

}  // namespace

std::string layer_tensor(int layer, const std::string& part) {
  return "blk." + std::to_string(layer) + "." + part;
}

void check_tensors(const GgufFile& file, HParams& h) {
  const ggml_tensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) {
    file.fail(ErrorCode::kCorrupt,
              "tensor token_embd.weight not found (architecture " + h.architecture + " expects it)");
  }
  if (embedding->ne[1] > kLargestVocabulary) {
    file.fail(ErrorCode::kCorrupt, "tensor token_embd.weight has " + std::to_string(embedding->ne[1]) +
                                       " rows; allowed: 1 to " + std::to_string(kLargestVocabulary));
  }
  h.vocabulary = int(embedding->ne[1]);
  h.tied_embeddings = file.find_tensor("output.weight") == nullptr;

  std::unordered_set<std::string> known;
  for (const Expected& expected : model_tensors(h)) {
    check_one(file, h, expected);
    known.insert(expected.name);
  }
  check_rope_factors(file);
  for (int i = 0; i < file.tensors(); ++i) {
    const std::string name = file.tensor_name(i);
    if (!known.contains(name)) {
      file.fail(ErrorCode::kUnsupported,
                "tensor " + name + " is not part of the architecture " + h.architecture +
                    " as this version knows it; leaving it out would change the model's output");
    }
  }
}

}  // namespace vase::model
