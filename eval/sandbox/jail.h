// The far side of the sandbox: what happens in the new process before the program runs. The process is a copy of one
// that has threads, so it allocates nothing and calls only what is safe in a signal handler.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

namespace vase::eval {

constexpr unsigned kUserInside = 1000;  // user and group that the program sees itself as

// All that the new process needs, made before it begins.
struct JailPlan {
  const char* const* arguments;    // interpreter and its arguments, ended by null
  const char* const* environment;  // ended by null
  struct File {
    const char* name;
    const char* text;
    size_t bytes;
  };
  std::span<const File> files;
  const char* folder_options;  // of the file system for the working folder: "size=...,..."
  std::span<const sock_filter> filter;
  uint64_t memory_bytes, file_bytes;
  int seconds, threads;
  bool leave_groups;          // started as root: the groups are left, too
  int input, output, errors;  // become descriptors 0, 1, 2; all of these are above 9
  int report;                 // JailReport goes here
  int go;                     // one byte comes here when the user is mapped; closed at the other end: stop
  int go_from;                // that other end, of which the new process has a copy to close
};

// The step at which it stands; what went wrong is reported with it.
enum class JailStep : int32_t {
  kUser,
  kParent,
  kMounts,
  kFiles,
  kDescriptors,
  kStart,
  kLimits,
  kFilter,
  kProgram,
  kEnded
};

struct JailReport {
  JailStep step;
  int32_t value;  // errno; for kEnded what waitpid() tells of the program
};

// Namespaces that the process must be cloned with.
extern const unsigned long kJailNamespaces;

// Runs the plan in the process that clone() made, and reports how the program ended. Never returns.
[[noreturn]] void run_jail(const JailPlan& plan);

}  // namespace vase::eval
