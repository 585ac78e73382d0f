// Which tensors an architecture has, and their shapes.
#pragma once

#include "model/gguf_file.h"
#include "model/hparams.h"

namespace vase::model {

// Sets vocabulary and tied_embeddings from the tensors of the file and checks all shapes
// and types.
void check_tensors(const GgufFile& file, HParams& hparams);

// Name of a tensor of a layer, "blk.3.attn_q.weight".
std::string layer_tensor(int layer, const std::string& part);

}  // namespace vase::model
