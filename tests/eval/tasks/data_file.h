// Data files of the tests, and the errors that they lead to.
#pragma once

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "eval/tasks/task.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::eval {

// A file with this text, removed with the object.
class DataFile {
 public:
  DataFile(const std::string& extension, const std::string& text) : path_(test::temporary_path(extension)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~DataFile() { std::remove(path_.c_str()); }
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Task read_data(const std::string& task, const std::string& extension, const std::string& text) {
  const DataFile file(extension, text);
  return read_task(task, file.path());
}

// What `call` throws; empty when it does not.
template <typename Call>
std::optional<Error> error_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

}  // namespace vase::eval
