// Heads of a model, as the parts that were made for a certain model compare and name them.
#pragma once

#include <string>

#include "vase/policy.h"

namespace vase {

inline bool same_heads(const ModelHeads& a, const ModelHeads& b) {
  return a.layers == b.layers && a.kv_heads == b.kv_heads && a.group == b.group && a.head_dim == b.head_dim;
}

inline std::string heads_text(const ModelHeads& h) {
  return std::to_string(h.layers) + " layers x " + std::to_string(h.kv_heads) + " KV heads x " +
         std::to_string(h.group) + " query heads of " + std::to_string(h.head_dim) + " channels";
}

}  // namespace vase
