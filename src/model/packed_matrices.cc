#include "model/packed_matrices.h"

#include <ggml.h>

#include <thread>

#include "base/machine.h"

namespace vase::model {
namespace {

// Runs work(ith) for ith = 0 .. threads - 1 at the same time. Work that gets no thread is done here.
template <class Work>
void on_threads(int threads, const Work& work) {
  std::vector<std::thread> others;
  others.reserve(size_t(threads));
  int ith = 1;
  try {
    for (; ith < threads; ++ith) others.emplace_back(work, ith);
  } catch (const std::system_error&) {
    for (int rest = ith; rest < threads; ++rest) work(rest);
  }
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace

void PackedMatrices::add(Matrix& matrix, const kernels::PackedShape& shape, const ggml_tensor* source) {
  matrix.shape = shape;
  entries_.push_back({&matrix, source, bytes_});
  bytes_ += (kernels::packed_bytes(shape) + 63) / 64 * 64;
}

void PackedMatrices::fill(const GgufFile& file, const MappedFile& mapping) {
  if (entries_.empty()) return;
  buffer_ = HugeBuffer(bytes_);
  const int threads = physical_cores();
  for (const Entry& entry : entries_) {
    const kernels::PackedShape& shape = entry.matrix->shape;
    std::byte* packed = buffer_.data() + entry.offset;
    const auto data = file.data(entry.source);
    const int strips = shape.strips();
    on_threads(threads, [&](int ith) {
      const auto edge = [&](int i) { return int(int64_t(strips) * i / threads); };
      kernels::pack_weights(shape, data.data(), edge(ith), edge(ith + 1), packed);
    });
    entry.matrix->packed = packed;
    if (entry.source->data == nullptr) mapping.forget(data);
  }
}

}  // namespace vase::model
