#include "base/huge_buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/machine.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr size_t kHugePage = size_t(2) << 20;

std::string mib(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

HugeBuffer::HugeBuffer(size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  // Small buffers stay on ordinary pages: a huge page would cost more than it saves.
  const size_t unit = bytes >= kHugePage ? kHugePage : 4096;
  if (bytes > SIZE_MAX - 2 * unit) throw Error(ErrorCode::kResource, "buffer size overflows the address space");
  mapped_ = (bytes + unit - 1) / unit * unit;
  // Overcommitted memory would be granted here and kill the process when it is touched.
  const uint64_t available = available_memory();
  void* p = MAP_FAILED;
  if (mapped_ <= available) p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    throw Error(ErrorCode::kResource, "cannot allocate " + mib(bytes) + "; " + mib(available) +
                                          " are free. Choose a smaller budget, fewer sequences or a smaller model");
  }
  data_ = static_cast<std::byte*>(p);
  if (unit == kHugePage) madvise(p, mapped_, MADV_HUGEPAGE);
  std::memset(p, 0, mapped_);
}

HugeBuffer::~HugeBuffer() {
  if (data_) munmap(data_, mapped_);
}

HugeBuffer::HugeBuffer(HugeBuffer&& other) noexcept { *this = std::move(other); }

HugeBuffer& HugeBuffer::operator=(HugeBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

}  // namespace vase
