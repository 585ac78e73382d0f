// From a checked GGUF file to validated hyper-parameters.
#pragma once

#include "model/gguf_file.h"
#include "model/hparams.h"

namespace vase::model {

// Reads the keys, then checks that every tensor that the architecture needs is there with the right shape and
// type, and that there is none that this version would ignore. Throws Error that names the key or tensor.
HParams validate_model(const GgufFile& file);

}  // namespace vase::model
