// The one exception type that the library throws. The library never prints, exits or aborts on input.
#pragma once

#include <stdexcept>
#include <string>

#include "vase/export.h"

namespace vase {

// What kind of thing went wrong. A program maps kUsage to exit code 2 and everything else to 1.
enum class ErrorCode {
  kUsage,        // a value that the caller may set is out of its range; the message says what is allowed
  kNotFound,     // a file or a named thing does not exist
  kCorrupt,      // a file is damaged or not of the expected format
  kUnsupported,  // well-formed, but not something this version can run
  kResource,     // memory, disk or another limit of the machine
  kNonFinite,    // the model produced NaN or infinity where a number is needed
};

// Message: one line, what was wrong, what is allowed, what to do.
class VASE_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace vase
