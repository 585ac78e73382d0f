// The vocabulary in the file must fit the embedding, and be such that libllama's loader does not trip over
// it.
#pragma once

#include "model/gguf_file.h"
#include "model/hparams.h"

namespace vase::model {

// Throws Error(kCorrupt) naming the key. A file that says that it has no tokenizer ("none") passes.
void check_tokenizer(const GgufFile& file, const HParams& hparams);

}  // namespace vase::model
