// Checks of the vocabulary in a model file that must come before libllama reads it: it aborts the process on some
// defects and silently replaces others.
#pragma once

struct gguf_context;

namespace vase::text {

// Throws Error (kCorrupt, kUnsupported) that names the key, what was found and what is needed.
void check_vocabulary(const gguf_context* file);

}  // namespace vase::text
