// A user's message as the tokens that a model is given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vase/model.h"

namespace vase::eval {

// With the file's own chat template, or as it is when `raw`. system may be empty. Throws Error(kUsage) when
// the model has no template, and for invalid UTF-8.
std::vector<int32_t> prompt_tokens(const Model& model, const std::string& system, bool raw,
                                   const std::string& user);

// Whether the prompt ends in a <think>, as templates of reasoning models may: the text begins in mid-thought and has no
// <think> of its own.
bool opens_thinking(const Model& model, std::span<const int32_t> prompt);

}  // namespace vase::eval
