// The weights of a model that lie in our own layout: counted first, then laid out together.
#pragma once

#include <vector>

#include "base/huge_buffer.h"
#include "model/gguf_file.h"
#include "model/mapped_file.h"
#include "model/weights.h"

namespace vase::model {

class PackedMatrices {
 public:
  // `matrix` gets its place at fill() and must not move until then.
  void add(Matrix& matrix, const kernels::PackedShape& shape, const ggml_tensor* source);
  // Lays all of them out, on as many threads as there are cores. Pages of the file that are not used any more go back
  // to the system as we go. Throws Error(kResource) when memory does not suffice.
  void fill(const GgufFile& file, const MappedFile& mapping);

 private:
  struct Entry {
    Matrix* matrix;
    const ggml_tensor* source;
    size_t offset;
  };
  std::vector<Entry> entries_;
  size_t bytes_ = 0;
  HugeBuffer buffer_;
};

}  // namespace vase::model
