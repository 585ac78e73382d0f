#include "model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vase/error.h"

namespace vase::model {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

void read_whole(int fd, std::byte* out, size_t size, const std::string& path) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(fd, out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorCode::kResource,
                  path + ": cannot be read: " + (got < 0 ? std::strerror(errno) : "it shrank"));
    }
    done += size_t(got);
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) throw Error(ErrorCode::kNotFound, path + ": cannot be opened: " + std::strerror(errno));
  struct stat info {};
  if (fstat(file.fd, &info) != 0) throw Error(ErrorCode::kNotFound, path + ": " + std::strerror(errno));
  if (S_ISDIR(info.st_mode)) {
    throw Error(ErrorCode::kNotFound, path + ": is a directory; name the .gguf file inside of it");
  }
  if (!S_ISREG(info.st_mode)) {
    throw Error(ErrorCode::kCorrupt, path + ": is a pipe or a device; a model must be a regular .gguf file");
  }
  const size_t size = size_t(info.st_size);
  if (size == 0) return;  // nothing to map; whoever reads it says what is missing

  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd, 0);
  mapped_ = at != MAP_FAILED;
  if (mapped_) {
    bytes_ = {static_cast<const std::byte*>(at), size};
    return;
  }
  copy_ = HugeBuffer(size);
  read_whole(file.fd, copy_.data(), size, path);
  bytes_ = {copy_.data(), size};
}

MappedFile::~MappedFile() {
  if (mapped_) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::forget(std::span<const std::byte> part) const {
  if (!mapped_) return;
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace vase::model
