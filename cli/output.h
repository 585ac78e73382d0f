// What the program writes, every byte of it checked: a full disk is an error, never a short file.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vase::cli {

// As printf, into a string.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

// Standard output is a pipe that nobody reads any more (`| head`): no error to tell of, but the end.
struct ReaderGone {};

// To standard output, at once. Throws Error(kResource), or ReaderGone.
void write_output(std::string_view text);

// Moving an output to its place would destroy what it is the same file as. taken: the other files of the command line,
// each with what it is called. An empty path is none. Throws Error(kUsage).
void refuse_overwriting(const std::string& flag, const std::string& path,
                        const std::vector<std::pair<std::string, std::string>>& taken);

// A file that appears whole or not at all: it is written beside its place and moved there by commit(); an interrupt
// removes it, too. What exists and is no regular file (a pipe, /dev/stdout) is written to directly.
class OutputFile {
 public:
  // Throws Error(kUsage) for a directory, Error(kResource) when the file cannot be made.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // All throw Error(kResource). flush(): what has been written can be read, beside its place, and survives a kill.
  void write(std::string_view bytes);
  void flush();
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;     // as given, for messages
  std::string target_;   // where the file belongs, symbolic links followed
  std::string written_;  // equal to target_ when written to directly
  std::ofstream out_;
  bool committed_ = false;
};

}  // namespace vase::cli
