// ggml prints what it has to say through one callback for the whole process. A library must not print, so
// every call into ggml that may log runs under this guard.
#pragma once

namespace vase::model {

// Swallows ggml's log for as long as it lives. Guards nest, and may live on several threads at a time.
class QuietGgml {
 public:
  QuietGgml();
  ~QuietGgml();
  QuietGgml(const QuietGgml&) = delete;
  QuietGgml& operator=(const QuietGgml&) = delete;
};

}  // namespace vase::model
