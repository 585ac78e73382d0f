// Page-aligned memory on transparent huge pages, every page touched at allocation: resident memory is final from the
// start and never grows later. Move-only.
#pragma once

#include <cstddef>

namespace vase {

class HugeBuffer {
 public:
  HugeBuffer() = default;
  // Zero-filled. Throws Error(kResource) that names the size and what is free when that is less.
  explicit HugeBuffer(size_t bytes);
  ~HugeBuffer();
  HugeBuffer(HugeBuffer&& other) noexcept;
  HugeBuffer& operator=(HugeBuffer&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }  // as asked for

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
};

}  // namespace vase
