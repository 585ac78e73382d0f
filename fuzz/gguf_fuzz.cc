// Any bytes at all are either a model or an Error; never a crash, an abort or a print.
#include "model/gguf_file.h"
#include "model/hparams_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const vase::model::GgufFile file({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    vase::model::validate_model(file);
  } catch (const vase::Error&) {
  }
  return 0;
}
