// What a program in the sandbox may not ask of the kernel.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace vase::eval {

// A seccomp filter for this CPU. It fails with EPERM: another process (threads are allowed), sockets (those
// in the file system are not bound to a network namespace), memory that no limit counts (memfd_create,
// memfd_secret, shmget), and what works on other processes, mounts or the kernel. Empty on CPUs for which it
// has not been written: x86-64 and 64-bit ARM have one.
std::vector<sock_filter> syscall_filter();

}  // namespace vase::eval
