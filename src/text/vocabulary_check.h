// Checks of the vocabulary in a model file that must come before libllama reads it: it aborts the process on some
// defects and silently replaces others.
#pragma once

#include <string>

namespace vase::text {

// Throws Error (kNotFound, kCorrupt, kUnsupported) that names the key, what was found and what is needed.
void check_vocabulary(const std::string& path);

}  // namespace vase::text
