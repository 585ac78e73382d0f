// ggml and libllama print what they have to say through one callback for the whole process. A library must not print,
// so every call into them that may log runs under this guard.
#pragma once

#include <string>

namespace vase {

// Swallows the log for as long as any guard of the process lives; the callback that was there before comes back with
// the end of the last one, unless the program has set another meanwhile. Guards may live on several threads at a time.
// On one thread they nest, the innermost listening; a guard ends on the thread that made it.
class QuietGgml {
 public:
  QuietGgml();
  ~QuietGgml();
  QuietGgml(const QuietGgml&) = delete;
  QuietGgml& operator=(const QuietGgml&) = delete;

  // First error that this thread has logged under this guard, as logged; empty when there was none. The first is the
  // most specific one: what follows only says that something failed.
  const std::string& first_error() const { return first_error_; }

 private:
  friend struct GgmlLog;
  QuietGgml* outer_;
  std::string first_error_;
};

}  // namespace vase
