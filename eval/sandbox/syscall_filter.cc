#include "eval/sandbox/syscall_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace vase::eval {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kMachine = 0;
#endif

constexpr uint32_t kMemfdSecret = 447;  // on every CPU; older headers lack it

constexpr uint32_t kForbidden[] = {
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_socket,
    SYS_memfd_create,
    kMemfdSecret,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_open_by_handle_at};

constexpr uint32_t kX32Calls = 0x40000000;  // on x86-64 a second table of calls begins here

sock_filter load(size_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)}; }
sock_filter jump(uint16_t test, uint32_t value, uint8_t if_so, uint8_t if_not) {
  return {static_cast<uint16_t>(BPF_JMP | test | BPF_K), if_so, if_not, value};
}
sock_filter end(uint32_t action) { return {BPF_RET | BPF_K, 0, 0, action}; }
sock_filter refuse(int error) { return end(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }

}  // namespace

std::vector<sock_filter> syscall_filter() {
  if (kMachine == 0) return {};
  std::vector<sock_filter> filter = {
      load(offsetof(seccomp_data, arch)), jump(BPF_JEQ, kMachine, 1, 0),
      end(SECCOMP_RET_KILL_PROCESS),      load(offsetof(seccomp_data, nr)),
      jump(BPF_JGE, kX32Calls, 0, 1),     end(SECCOMP_RET_KILL_PROCESS),
      jump(BPF_JEQ, SYS_clone3, 0, 1),    refuse(ENOSYS),  // its flags lie in memory; the C library then uses clone
  };
  for (const uint32_t call : kForbidden) {
    filter.push_back(jump(BPF_JEQ, call, 0, 1));
    filter.push_back(refuse(EPERM));
  }
  // clone() of anything but a thread; the flags are the first argument, its low half comes first.
  filter.push_back(jump(BPF_JEQ, SYS_clone, 0, 3));
  filter.push_back(load(offsetof(seccomp_data, args)));
  filter.push_back(jump(BPF_JSET, CLONE_THREAD, 1, 0));
  filter.push_back(refuse(EPERM));
  filter.push_back(end(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace vase::eval
