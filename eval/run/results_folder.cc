#include "eval/run/results_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "eval/require_regular.h"
#include "eval/run/results_file.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What a run may have left that was killed before its configuration was written.
bool is_own_name(const std::string& name) {
  return name == kResultsName || name.starts_with(std::string(kConfigName) + ".part");
}

}  // namespace

ResultsFolder::ResultsFolder(const std::string& path, const json& config)
    : path_(path), file_(path + "/" + kResultsName), results_(config) {
  require_own(config);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorCode::kResource, "cannot make the folder " + path + ": " + error.message());
  open_and_lock();
  require_own(config);  // another run may have come first
  load();
  if (fs::exists(path + "/" + kConfigName, error)) return;
  if (!results_.list().empty()) {
    throw Error(ErrorCode::kCorrupt, file_ + " holds results, and there is no " + kConfigName +
                                         " that says of what; give another folder");
  }
  write_whole(path + "/" + kConfigName, config.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

void ResultsFolder::require_own(const json& config) const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(ErrorCode::kUsage, path_ + " is a file; give the name of a folder");
  if (fs::exists(path_ + "/" + kConfigName, error)) {
    require_same_config(config, "this run", read_config(path_), "the folder " + path_);
    return;
  }
  for (fs::directory_iterator entry(path_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (is_own_name(name)) continue;
    throw Error(ErrorCode::kUsage, "the folder " + path_ + " holds other things (" + name +
                                       ") and no results; give an empty folder or the name of a new one");
  }
  if (error) throw Error(ErrorCode::kResource, "cannot read the folder " + path_ + ": " + error.message());
}

void ResultsFolder::open_and_lock() {
  require_regular(file_);
  descriptor_ = Descriptor(open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (descriptor_.get() < 0) fail(file_, errno);
  // Held by the open file, so it goes with the process however that ends.
  if (flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail(file_, errno);
  throw Error(ErrorCode::kResource,
              "another process is writing to the folder " + path_ + "; wait for it, or give another folder");
}

void ResultsFolder::load() {
  size_ = results_.read(file_);
  std::error_code error;
  const uint64_t there = fs::file_size(file_, error);
  if (error) throw Error(ErrorCode::kResource, "cannot read " + file_ + ": " + error.message());
  if (there == size_) return;
  torn_ = there - size_;
  if (ftruncate(descriptor_.get(), static_cast<off_t>(size_)) != 0) fail(file_, errno);
}

void ResultsFolder::append(const Result& result, const Generation& generation) {
  const std::string line = result_line(result, generation);
  for (size_t written = 0; written < line.size();) {
    const ssize_t bytes = write(descriptor_.get(), line.data() + written, line.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      const int error = errno;
      // A part of a line would be cut off by the next run as well.
      [[maybe_unused]] const int ignored = ftruncate(descriptor_.get(), static_cast<off_t>(size_));
      fail(file_, error);
    }
    written += static_cast<size_t>(bytes);
  }
  size_ += line.size();
  results_.add(result, file_);
}

void ResultsFolder::fail(const std::string& path, int error) const {
  throw Error(ErrorCode::kResource, "cannot write " + path + ": " + std::strerror(error) +
                                        "; what is finished is kept, run it again to go on");
}

}  // namespace vase::eval
