// Model files with the shapes of real models and random weights: as fast and as large as the real thing, for
// benchmarks on machines that cannot fetch it. Their text is noise.
#pragma once

#include <string>
#include <string_view>

namespace vase::synthetic {

// Path of "<shape>-<weights>.gguf" in `cache_dir`, written first when it is not there (whole or not at all).
//   shape:   "qwen3-0.6b", "qwen3-4b", "qwen3-14b" (hyper-parameters of Qwen3; the first two tie their
//   embeddings) weights: "f16", "q8_0", "q4_0", "q4_k" (the last two with a Q6_K head, as files usually have)
// Throws Error: kUsage naming what is allowed, kResource when the disk is too full, with bytes needed and
// free.
std::string synthetic_model(std::string_view shape, std::string_view weights, const std::string& cache_dir);

}  // namespace vase::synthetic
