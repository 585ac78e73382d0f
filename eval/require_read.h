// Whether a file was read to its end.
#pragma once

#include <istream>
#include <string>

#include "vase/error.h"

namespace vase::eval {

// Throws Error(kResource) when reading has failed on the way, which std::getline() takes for the end of the file.
inline void require_read(const std::istream& in, const std::string& path) {
  if (in.bad()) throw Error(ErrorCode::kResource, "reading " + path + " failed; is its disk still there?");
}

}  // namespace vase::eval
