// Tensor encodings that this version can run.
#pragma once

#include <cstdint>
#include <string>

namespace vase::model {

// True for the ids (ggml_type) of weights that every kernel on our path handles.
bool is_supported_weight_type(uint32_t id);
// "f32, f16, ..." for messages.
std::string supported_weight_types();

}  // namespace vase::model
