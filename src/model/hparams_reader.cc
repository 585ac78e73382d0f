#include "model/hparams_reader.h"

#include <array>
#include <cmath>

#include "model/tensor_check.h"

namespace vase::model {
namespace {

constexpr int kMostLayers = 512;  // as libllama
constexpr int kMostHeads = 1024;
constexpr int kWidestHead = 512;
constexpr int64_t kWidest = 1 << 20;  // residual stream and feed-forward
constexpr int64_t kLongestContext = int64_t(1) << 30;

struct Family {
  const char* name;
  RopeKind rope;
  bool qk_norm;
};

constexpr std::array kFamilies = {
    Family{"llama", RopeKind::kAdjacent, false},
    Family{"qwen2", RopeKind::kHalves, false},
    Family{"qwen3", RopeKind::kHalves, true},
};

const Family& find_family(const GgufFile& file) {
  const std::string architecture = file.text("general.architecture").value_or("");
  std::string list;
  for (const Family& family : kFamilies) {
    if (architecture == family.name) return family;
    list += std::string(list.empty() ? "" : ", ") + family.name;
  }
  file.fail(ErrorCode::kUnsupported,
            (architecture.empty() ? "the file names no architecture (key general.architecture)"
                                  : "the architecture '" + architecture + "' is not supported") +
                "; supported: " + list);
}

// Keys of one architecture, "<architecture>.<name>".
class Keys {
 public:
  Keys(const GgufFile& file, const std::string& architecture) : file_(file), prefix_(architecture + ".") {}

  std::optional<int64_t> find_whole(const std::string& name) const {
    return file_.whole_number(prefix_ + name);
  }
  std::optional<double> find_number(const std::string& name) const { return file_.number(prefix_ + name); }
  std::optional<std::string> find_text(const std::string& name) const { return file_.text(prefix_ + name); }
  std::optional<bool> find_flag(const std::string& name) const { return file_.flag(prefix_ + name); }

  // A number in [low, high]; `fallback` when absent, an error when there is none.
  int whole(const std::string& name, int64_t low, int64_t high, std::optional<int64_t> fallback = {}) const {
    const auto value = find_whole(name);
    if (!value && !fallback) missing(name);
    const int64_t number = value.value_or(fallback.value_or(0));
    if (number < low || number > high) {
      file_.fail(ErrorCode::kCorrupt, prefix_ + name + " is " + std::to_string(number) + "; allowed: " +
                                          std::to_string(low) + " to " + std::to_string(high));
    }
    return int(number);
  }

  // A finite number > 0 and at most `high`.
  float positive(const std::string& name, double high, std::optional<double> fallback = {}) const {
    const auto value = find_number(name);
    if (!value && !fallback) missing(name);
    const double number = value.value_or(fallback.value_or(0));
    if (!(number > 0 && number <= high)) {
      file_.fail(ErrorCode::kCorrupt, prefix_ + name + " is " + std::to_string(number) +
                                          "; it must be larger than 0 and at most " + std::to_string(high));
    }
    return float(number);
  }

  [[noreturn]] void unsupported(const std::string& name, const std::string& what) const {
    file_.fail(ErrorCode::kUnsupported, what + " not supported (key " + prefix_ + name + ")");
  }

 private:
  [[noreturn]] void missing(const std::string& name) const {
    file_.fail(ErrorCode::kCorrupt, "key " + prefix_ + name + " is missing");
  }

  const GgufFile& file_;
  std::string prefix_;
};

void refuse_unsupported(const Keys& keys) {
  if (keys.find_whole("expert_count").value_or(0) > 0)
    keys.unsupported("expert_count", "mixtures of experts are");
  if (keys.find_whole("attention.sliding_window").value_or(0) > 0) {
    keys.unsupported("attention.sliding_window", "sliding-window attention is");
  }
  if (!keys.find_flag("attention.causal").value_or(true)) {
    keys.unsupported("attention.causal", "attention that is not causal is");
  }
}

void read_shape(const GgufFile& file, const Keys& keys, HParams& h) {
  h.layers = keys.whole("block_count", 1, kMostLayers);
  h.embedding = keys.whole("embedding_length", 1, kWidest);
  h.feed_forward = keys.whole("feed_forward_length", 1, kWidest);
  h.trained_context = keys.whole("context_length", 1, kLongestContext);
  h.query_heads = keys.whole("attention.head_count", 1, kMostHeads);
  h.kv_heads = keys.whole("attention.head_count_kv", 1, kMostHeads, h.query_heads);
  if (h.query_heads % h.kv_heads != 0) {
    file.fail(ErrorCode::kCorrupt, std::to_string(h.query_heads) + " query heads cannot share " +
                                       std::to_string(h.kv_heads) +
                                       " KV heads; the first number must be a multiple of the second");
  }
  if (!keys.find_whole("attention.key_length") && h.embedding % h.query_heads != 0) {
    file.fail(ErrorCode::kCorrupt, "the embedding length " + std::to_string(h.embedding) +
                                       " is not a multiple of the " + std::to_string(h.query_heads) +
                                       " heads, and no attention.key_length is given");
  }
  h.head_dim = keys.whole("attention.key_length", 2, kWidestHead, h.embedding / h.query_heads);
  if (h.head_dim % 2 != 0) {
    file.fail(ErrorCode::kUnsupported,
              "the head size " + std::to_string(h.head_dim) + " is odd; RoPE needs an even one");
  }
  const int values = keys.whole("attention.value_length", 1, kWidestHead, h.embedding / h.query_heads);
  if (values != h.head_dim) {
    file.fail(ErrorCode::kUnsupported, "keys of " + std::to_string(h.head_dim) + " and values of " +
                                           std::to_string(values) +
                                           " channels are not supported; they must be equal");
  }
  h.rms_epsilon = keys.positive("attention.layer_norm_rms_epsilon", 1);
}

// Factors as llama.cpp derives them from the file (llama-context.cpp), so that both compute the same
// rotation.
void read_rope_scaling(const Keys& keys, HParams& h) {
  const std::string kind = keys.find_text("rope.scaling.type").value_or("linear");
  const char* factor_key =
      keys.find_number("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  const bool scaled = keys.find_number(factor_key).value_or(0) != 0;  // 0 stands for "not scaled"
  const float factor = scaled ? keys.positive(factor_key, 1e6) : 1;
  h.rope_original_context =
      keys.whole("rope.scaling.original_context_length", 1, kLongestContext, h.trained_context);
  h.yarn_attn_factor = keys.positive("rope.scaling.attn_factor", 1e6, 1.0);

  if (kind == "none") return;
  if (kind != "linear" && kind != "yarn") {
    keys.unsupported("rope.scaling.type", "RoPE scaling '" + kind + "' (supported: none, linear, yarn) is");
  }
  if (kind == "yarn" && factor < 1) keys.unsupported(factor_key, "YaRN with a factor below 1 is");
  h.rope_scale = 1 / factor;
  if (kind == "yarn") h.yarn_ext_factor = 1;  // ggml itself adds the attention temperature 1 + 0.1 ln(factor)
}

void read_rope(const GgufFile& file, const Keys& keys, HParams& h) {
  h.rope_dims = keys.whole("rope.dimension_count", 1, kWidestHead, h.head_dim);
  if (h.rope_dims != h.head_dim) {
    file.fail(h.rope_dims > h.head_dim ? ErrorCode::kCorrupt : ErrorCode::kUnsupported,
              "RoPE over " + std::to_string(h.rope_dims) + " of " + std::to_string(h.head_dim) +
                  " channels is not supported; the two must be equal (key " + h.architecture +
                  ".rope.dimension_count)");
  }
  h.rope_base = keys.positive("rope.freq_base", 1e12, 10000.0);
  read_rope_scaling(keys, h);
}

void refuse_split(const GgufFile& file) {
  const int64_t parts = file.whole_number("split.count").value_or(0);
  if (parts <= 1) return;
  const int64_t part = file.whole_number("split.no").value_or(0) + 1;
  file.fail(ErrorCode::kUnsupported,
            "this is part " + std::to_string(part) + " of " + std::to_string(parts) +
                " of a split model; merge the parts first (llama-gguf-split --merge)");
}

}  // namespace

HParams validate_model(const GgufFile& file) {
  refuse_split(file);
  const Family& family = find_family(file);
  HParams h;
  h.architecture = family.name;
  h.name = file.text("general.name").value_or("");
  h.rope = family.rope;
  h.qk_norm = family.qk_norm;

  const Keys keys(file, h.architecture);
  refuse_unsupported(keys);
  read_shape(file, keys, h);
  read_rope(file, keys, h);
  check_tensors(file, h);
  h.vocabulary = keys.whole("vocab_size", h.vocabulary, h.vocabulary, h.vocabulary);
  return h;
}

}  // namespace vase::model
