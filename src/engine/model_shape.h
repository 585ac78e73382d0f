// The numbers of a file's hyper-parameters that the public interface shows.
#pragma once

#include "model/hparams.h"
#include "vase/model.h"

namespace vase {

// Without file size and fingerprint, which the header of a file does not hold.
inline ModelShape shape_of(const model::HParams& h) {
  return {.architecture = h.architecture,
          .name = h.name,
          .layers = h.layers,
          .query_heads = h.query_heads,
          .kv_heads = h.kv_heads,
          .head_dim = h.head_dim,
          .embedding = h.embedding,
          .vocabulary = h.vocabulary,
          .trained_context = h.trained_context};
}

}  // namespace vase
