#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "interrupt.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

namespace fs = std::filesystem;

// Devices (/dev/null) keep nothing.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::is_character_file(a, error)) return false;
  if (fs::exists(a, error) || fs::exists(b, error)) return fs::equivalent(a, b, error);
  const fs::path first = fs::weakly_canonical(fs::absolute(a, error), error);
  return !error && first == fs::weakly_canonical(fs::absolute(b, error), error);
}

std::string reason() { return errno ? std::string(": ") + std::strerror(errno) : ""; }

}  // namespace

std::string formatted(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::vector<char> text(std::vsnprintf(nullptr, 0, format, arguments) + 1);
  va_end(arguments);
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  return {text.data(), text.size() - 1};
}

void write_output(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) throw ReaderGone();
    throw Error(ErrorCode::kResource, "cannot write to standard output" + reason());
  }
}

void refuse_overwriting(const std::string& flag, const std::string& path,
                        const std::vector<std::pair<std::string, std::string>>& taken) {
  if (path.empty()) return;
  for (const auto& [name, other] : taken) {
    if (!same_file(path, other)) continue;
    throw Error(ErrorCode::kUsage,
                flag + " " + path + " is the same file as " + name + "; give the name of another file");
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    throw Error(ErrorCode::kUsage, path + " is a directory; give the name of a file");
  target_ = fs::exists(status) ? fs::canonical(path, error).string() : path;
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  written_ = direct ? path : target_ + ".part" + std::to_string(getpid());
  if (direct) target_ = path;
  if (!direct) remove_on_interrupt(written_.c_str());
  errno = 0;
  out_.open(written_, std::ios::binary);
  if (out_) return;
  keep_on_interrupt(written_.c_str());
  fail();
}

OutputFile::~OutputFile() {
  if (committed_ || written_ == target_) return;
  std::error_code ignored;
  fs::remove(written_, ignored);
  keep_on_interrupt(written_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  errno = 0;
  if (!out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) fail();
}

void OutputFile::flush() {
  errno = 0;
  if (!out_.flush()) fail();
}

void OutputFile::commit() {
  flush();
  if (written_ != target_ && std::rename(written_.c_str(), target_.c_str()) != 0) fail();
  committed_ = true;
  keep_on_interrupt(written_.c_str());
}

void OutputFile::fail() const { throw Error(ErrorCode::kResource, "cannot write " + path_ + reason()); }

}  // namespace vase::cli
