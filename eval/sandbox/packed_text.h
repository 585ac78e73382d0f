// What LiveCodeBench packs its private tests with: base64 of zlib of a pickled text.
#pragma once

#include <string>
#include <string_view>

namespace vase::eval {

// A pickle is a program; this reads the one that pushes a single text and stops (protocols 1 to 5) and refuses every
// other, so nothing in a data file can run. Throws Error(kCorrupt): not base64, not zlib, more than 1 GiB, another
// pickle.
std::string unpack_text(std::string_view packed);

}  // namespace vase::eval
