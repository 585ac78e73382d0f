#include "growing_file.h"

#include <filesystem>

namespace vase::cli {

GrowingFile::GrowingFile(const std::string& path) : path_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  pipe_.emplace(path);
  if (!exists(status) || is_regular_file(status)) pipe_.reset();
}

void GrowingFile::set(std::string_view content) {
  if (pipe_) {
    pipe_->write(content.substr(written_));
    pipe_->flush();
    written_ = content.size();
    return;
  }
  OutputFile file(path_);
  file.write(content);
  file.commit();
}

}  // namespace vase::cli
