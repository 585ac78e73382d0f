// Runs Python programs that a model wrote: without network, in a file system that cannot be changed, within bounds of
// time, memory, threads, files and output. Linux 5.14 or later with user namespaces; nothing of the program outlives
// its run.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vase::eval {

struct SandboxLimits {
  int milliseconds = 6000;                    // from the start of the interpreter to the end, sleeping included
  uint64_t memory_bytes = uint64_t{2} << 30;  // address space
  uint64_t file_bytes = uint64_t{32} << 20;   // all files of the working folder; standard output; standard error; each
  int threads = 32;                           // at a time; other processes cannot be started at all
};

enum class RunEnd {
  kExited,  // `code` is the exit status
  kKilled,  // `code` is the signal
  kTimeout,
};

struct ProgramRun {
  RunEnd end = RunEnd::kExited;
  int code = 0;
  std::string output;  // standard output, as far as it was written
  std::string errors;  // the last 2000 bytes of standard error
};

struct ProgramFile {
  std::string name, text;
};

class Sandbox {
 public:
  // python: an interpreter that everybody may run; empty: python3 of /usr/local/bin, /usr/bin or /bin. As root programs
  // run as "nobody" (65534). Runs a first program to see that all bounds can be set. Throws Error: kUsage for limits
  // below 1; kNotFound without an interpreter; kUnsupported with what this machine does not allow.
  explicit Sandbox(const SandboxLimits& limits = {}, const std::string& python = "");

  // Runs the first of `files` in a folder with all of them. Throws NoVerdict when the sandbox is ended from outside, as it
  // is where memory is short, and Error: kResource when it cannot be made for want of something, kUnsupported when a bound
  // cannot be set any more.
  ProgramRun run(const std::vector<ProgramFile>& files, std::string_view input) const;

 private:
  void try_out() const;

  SandboxLimits limits_;
  std::string python_;
  std::vector<sock_filter> filter_;
};

}  // namespace vase::eval
