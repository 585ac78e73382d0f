// The constant part of a model's keys, head by head: what quantised keys are stored without.
#pragma once

#include <vector>

#include "kernels/key_offset/key_offset.h"
#include "model/weights.h"

namespace vase::model {

// For each [layer][KV head] the largest pairs of channels of the key bias. Empty when no layer has a bias, or when keys
// are normalised behind it, so that it is no constant part.
std::vector<kernels::KeyOffset> key_offsets(const Weights& weights, const Rope& rope);

}  // namespace vase::model
