#include "vase/capture.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "engine/engine_plan.h"
#include "engine/model_impl.h"
#include "kernels/rotation/rotation.h"
#include "model/forward.h"
#include "model/rope.h"
#include "policies/tri_stats.h"
#include "vase/error.h"

namespace vase {
namespace {

using OnRows = std::function<void(const LayerRows&)>;

// Hands the rows of wanted layers on before attention to them begins.
class Observer final : public model::LayerAttention {
 public:
  Observer(StepAttention& attention, const ModelShape& shape, const Rope& rope, const CaptureOptions& options,
           const OnRows& on_rows)
      : attention_(attention), shape_(shape), rope_(rope), wanted_(shape.layers, options.layers.empty()),
        on_rows_(on_rows), turn_(shape.head_dim) {
    for (const int layer : options.layers) wanted_[layer] = true;
  }

  void begin_chunk(int first) { first_ = first; }

  void attend(const model::LayerInputs& in) noexcept override {
    if (in.ith == 0 && wanted_[in.layer] && !error_) {
      try {
        observe(in);
      } catch (...) {  // must not cross ggml's C code
        error_ = std::current_exception();
      }
    }
    attention_.attend(in);
  }

  void rethrow_error() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void observe(const model::LayerInputs& in) {
    const auto rows = [&](const float* base, int heads) {
      return std::span(base, size_t(in.tokens) * heads * shape_.head_dim);
    };
    LayerRows out{.layer = in.layer,
                  .first = first_,
                  .tokens = in.tokens,
                  .queries = rows(in.q, shape_.query_heads),
                  .keys = rows(in.k, shape_.kv_heads),
                  .values = rows(in.v, shape_.kv_heads)};
    out.plain_queries = unrotated(out.queries, shape_.query_heads, queries_);
    out.plain_keys = unrotated(out.keys, shape_.kv_heads, keys_);
    on_rows_(out);
  }

  // [tokens][heads][head_dim] before the rotation.
  std::span<const float> unrotated(std::span<const float> rows, int heads, std::vector<float>& to) {
    to.assign(rows.begin(), rows.end());
    const size_t d = shape_.head_dim, rotated = 2 * rope_.frequencies.size();
    for (size_t row = 0; row * d < to.size(); ++row) {
      if (row % heads == 0) kernels::rotation_for(rope_, -double(first_ + int(row / heads)), turn_);
      const std::span<float> one = std::span(to).subspan(row * d, d);
      kernels::rotate_row(rope_, turn_, one);
      if (rope_.magnitude == 1) continue;
      for (float& x : one.first(rotated)) x /= rope_.magnitude;
    }
    return to;
  }

  StepAttention& attention_;
  const ModelShape& shape_;
  Rope rope_;
  std::vector<bool> wanted_;
  const OnRows& on_rows_;
  std::vector<float> turn_, queries_, keys_;
  int first_ = 0;
  std::exception_ptr error_;
};

void check(const ModelShape& shape, std::span<const int32_t> tokens, const CaptureOptions& options) {
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::kUsage, message); };
  if (tokens.empty()) fail("there are no tokens to capture; give a text");
  for (const int layer : options.layers) {
    if (layer >= 0 && layer < shape.layers) continue;
    fail("there is no layer " + std::to_string(layer) + "; the model has layers 0 to " +
         std::to_string(shape.layers - 1));
  }
}

}  // namespace

void capture(const Model& model, std::span<const int32_t> tokens, const CaptureOptions& options,
             const OnRows& on_rows) {
  const ModelShape& shape = model.shape();
  check(shape, tokens, options);
  const Policy full;
  const EngineOptions engine{.threads = options.threads, .chunk = options.chunk};
  const EnginePlan plan = plan_engine(shape, full, {.context = static_cast<int>(tokens.size())}, engine);
  SlotCache cache(plan.cache, false);
  EvictingAttention attention(cache, plan.attention);
  const model::RopeTable rope = model::rope_table(*model.impl().weights);
  Observer observer(attention, shape, rope.view(), options, on_rows);
  model::Forward forward(model.impl().weights, {.threads = plan.attention.threads,
                                                .max_tokens = options.chunk,
                                                .max_outputs = 0});
  Sequence sequence;
  std::vector<int32_t> positions(options.chunk);
  for (size_t fed = 0; fed < tokens.size();) {
    const auto part = tokens.subspan(fed, std::min<size_t>(options.chunk, tokens.size() - fed));
    std::iota(positions.begin(), positions.end(), static_cast<int32_t>(fed));
    const Span span{&sequence, 0, static_cast<int>(part.size())};
    attention.begin_step({&span, 1});
    observer.begin_chunk(static_cast<int>(fed));
    forward.run({part, std::span(positions).first(part.size()), {}}, observer);
    attention.end_step();
    observer.rethrow_error();
    plan.attention.schedule.advance(sequence, span.tokens);
    fed += part.size();
  }
}

void calibrate_triattention(const Model& model, std::span<const std::vector<int32_t>> texts, int threads,
                            const std::string& path, const std::function<void(size_t text)>& on_text) {
  const ModelShape& shape = model.shape();
  const model::RopeTable rope = model::rope_table(*model.impl().weights);
  TriAccumulator accumulator({shape.layers, shape.kv_heads, shape.group(), shape.head_dim},
                             static_cast<int>(rope.frequencies.size()), rope.adjacent);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (on_text) on_text(i);
    capture(model, texts[i], {.threads = threads}, [&](const LayerRows& rows) {
      for (int row = 0; row < rows.tokens * shape.query_heads; ++row) {
        accumulator.add(rows.layer, row % shape.query_heads,
                        rows.plain_queries.subspan(size_t(row) * shape.head_dim, shape.head_dim));
      }
    });
  }
  write_tri_stats(accumulator.stats(), path);
}

}  // namespace vase
