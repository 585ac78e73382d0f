// A file that grows while a run goes on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "output.h"

namespace vase::cli {

// It is whole at any time, also when the process is killed or the disk is full: each version replaces the one
// before. What exists and is no regular file (a pipe, /dev/stdout) cannot be replaced and takes what is new.
class GrowingFile {
 public:
  // Leaves a file that is there as it is. Throws Error when it cannot be written, so that it is known before
  // the work.
  explicit GrowingFile(const std::string& path);

  bool is_pipe() const { return pipe_.has_value(); }
  // content: all of the file. For a pipe it must begin with what was set before. Throws Error(kResource).
  void set(std::string_view content);

 private:
  std::string path_;
  std::optional<OutputFile> pipe_;
  size_t written_ = 0;  // bytes, to the pipe
};

}  // namespace vase::cli
