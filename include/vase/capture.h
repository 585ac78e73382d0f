// What a model computes for a text, layer by layer: for research on what a cache should keep, for distilling gates, and
// for the calibration that some policies need.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vase/export.h"
#include "vase/model.h"

namespace vase {

// Rows of one layer for a run of tokens; valid during the callback only.
struct LayerRows {
  int layer = 0;
  int first = 0;                          // position of the first token
  int tokens = 0;
  std::span<const float> queries;         // [tokens][query_heads][head_dim], rotated at their positions
  std::span<const float> keys;            // [tokens][kv_heads][head_dim], rotated at their positions
  std::span<const float> values;          // [tokens][kv_heads][head_dim]
  std::span<const float> plain_queries;   // as `queries`, before the rotation (after the norm of heads, where a model
  std::span<const float> plain_keys;      // has one)
};

struct CaptureOptions {
  int threads = 0;          // 0 = number of physical cores
  int chunk = 64;           // most tokens per callback, 1 to 4096
  std::vector<int> layers;  // that are wanted, counted from 0; empty = all
};

// Feeds the tokens to a full cache and calls back for every wanted layer of every chunk, in order of chunk and layer.
// Throws Error(kUsage) for no tokens, tokens outside of the vocabulary, or layers that the model does not have. What
// the callback throws leaves this function.
VASE_API void capture(const Model& model, std::span<const int32_t> tokens, const CaptureOptions& options,
                      const std::function<void(const LayerRows&)>& on_rows);

// Measures what score=triattention needs to know of a model's queries, over some texts, and writes it to a file.
// on_text: called before each text, may be empty. Throws Error as capture(), and kResource when the file cannot be
// written.
VASE_API void calibrate_triattention(const Model& model, std::span<const std::vector<int32_t>> texts, int threads,
                                     const std::string& path, const std::function<void(size_t text)>& on_text);

}  // namespace vase
