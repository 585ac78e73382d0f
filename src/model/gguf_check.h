// Checks the header of a GGUF file before ggml parses it: ggml trusts some fields and aborts on others, and
// its messages are not for the people who have to mend the file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vase::model {

// `bytes` is the whole file. Returns when ggml can parse it and every tensor lies inside of it; otherwise
// throws Error(kCorrupt or kUnsupported) that starts with `name` and says what was found and what is needed.
// Source of the format: the GGUF specification of the ggml project, versions 2 and 3.
void check_gguf(std::span<const std::byte> bytes, const std::string& name);

}  // namespace vase::model
