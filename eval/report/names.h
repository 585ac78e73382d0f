// What models are called on a page.
#pragma once

#include <string>
#include <vector>

#include "eval/report/sections.h"

namespace vase::eval::report {

// "Qwen2.5 Coder 1.5B (0123456789abcdef)" for a fingerprint that a folder has a name for, "model
// 0123456789abcdef" else.
std::string model_title(const Material& material, const std::string& fingerprint);

// Of all folders and files, each once, in their order; servers' models under the name that the server knows.
std::vector<std::string> model_titles(const Material& material);

}  // namespace vase::eval::report
