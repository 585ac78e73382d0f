// Any bytes at all are either an array or an Error.
#include "arrays/npy.h"
#include "vase/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    vase::cli::read_npy({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const vase::Error&) {
  }
  return 0;
}
