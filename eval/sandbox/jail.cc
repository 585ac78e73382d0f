#include "eval/sandbox/jail.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace vase::eval {
namespace {

constexpr const char* kFolder = "/tmp";
// Folders with sockets, terminals and memory of others.
constexpr const char* kHidden[] = {"/run", "/dev/pts", "/dev/shm", "/dev/mqueue"};
constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
constexpr uint64_t kStackBytes = uint64_t{64} << 20;  // deep recursion
constexpr uint64_t kOpenFiles = 64;
constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC, which older headers lack

// struct mount_attr and MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, which older headers lack.
struct MountAttributes {
  uint64_t set, clear, propagation, user_namespace;
};
constexpr uint64_t kReadOnlyNoSuid = 1 | 2;

// _exit(), which a sanitizer's library replaces with one that first writes what this process's streams still hold.
[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

class Jail {
 public:
  explicit Jail(const JailPlan& plan) : plan_(plan) {}

  [[noreturn]] void run() {
    close(plan_.go_from);
    forget_handlers();
    become_user();
    hide_memory();
    stay_with_parent();
    make_mounts();
    write_files();
    set_descriptors();
    const pid_t program = start();
    report(JailStep::kEnded, wait_for(program));
    leave(0);  // as process 1 of its namespace: the kernel ends all that is left
  }

 private:
  void report(JailStep step, int value) const {
    const JailReport told{step, value};
    (void)!write(plan_.report, &told, sizeof told);  // nobody else could be told
  }

  void check(bool good, JailStep step) const {
    if (good) return;
    report(step, errno);
    leave(1);
  }

  // The handlers of the process that this one is a copy of would act for it.
  static void forget_handlers() {
    for (int signal_number = 1; signal_number < NSIG; ++signal_number) signal(signal_number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  // Raw calls: the C library's would ask threads that are not there to follow.
  void become_user() const {
    char byte;
    check(read(plan_.go, &byte, 1) == 1, JailStep::kParent);
    if (plan_.leave_groups) check(syscall(SYS_setgroups, 0, nullptr) == 0, JailStep::kUser);
    check(syscall(SYS_setresgid, kUserInside, kUserInside, kUserInside) == 0, JailStep::kUser);
    check(syscall(SYS_setresuid, kUserInside, kUserInside, kUserInside) == 0, JailStep::kUser);
  }

  // This process is a copy of the one that runs the evaluation, with all that it holds, and the program is of
  // the same user: nothing of it under /proc is the program's to open.
  void hide_memory() const { check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, JailStep::kUser); }

  // When the parent dies, this process does; when it died before that was arranged, the other end of `go` is closed.
  void stay_with_parent() const {
    check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, JailStep::kParent);
    pollfd go{plan_.go, POLLIN, 0};
    check(poll(&go, 1, 0) == 0, JailStep::kParent);
  }

  void make_mounts() const {
    check(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, JailStep::kMounts);
    MountAttributes attributes{kReadOnlyNoSuid, 0, 0, 0};
    check(syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes) == 0,
          JailStep::kMounts);
    check(mount("tmpfs", kFolder, "tmpfs", kPlain, plan_.folder_options) == 0, JailStep::kMounts);
    for (const char* folder : kHidden) check(hide(folder) || errno == ENOENT, JailStep::kMounts);
    // Its own processes; where a container forbids that, none.
    check(mount("proc", "/proc", "proc", kPlain | MS_NOEXEC | MS_RDONLY, nullptr) == 0 || hide("/proc"),
          JailStep::kMounts);
  }

  static bool hide(const char* folder) {
    return mount("tmpfs", folder, "tmpfs", kPlain | MS_NOEXEC | MS_RDONLY, "size=4k,mode=0555") == 0;
  }

  void write_files() const {
    check(chdir(kFolder) == 0, JailStep::kFiles);
    for (const JailPlan::File& file : plan_.files) {
      const int out = open(file.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      check(out >= 0, JailStep::kFiles);
      for (size_t done = 0; done < file.bytes;) {
        const ssize_t written = write(out, file.text + done, file.bytes - done);
        check(written > 0, JailStep::kFiles);
        done += static_cast<size_t>(written);
      }
      close(out);
    }
  }

  void set_descriptors() const {
    check(dup2(plan_.input, 0) == 0 && dup2(plan_.output, 1) == 1 && dup2(plan_.errors, 2) == 2,
          JailStep::kDescriptors);
    check(syscall(SYS_close_range, 3u, ~0u, kCloseOnExec) == 0, JailStep::kDescriptors);
  }

  // The program is a child of this process: process 1 of a namespace does not get the signals that its limits send.
  pid_t start() const {
    const long child = syscall(SYS_clone, static_cast<unsigned long>(SIGCHLD), 0L, 0L, 0L, 0L);
    check(child >= 0, JailStep::kStart);
    if (child == 0) become_program();
    return static_cast<pid_t>(child);
  }

  [[noreturn]] void become_program() const {
    check(setsid() >= 0, JailStep::kStart);
    set_limits();
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, JailStep::kFilter);
    const sock_fprog filter{static_cast<unsigned short>(plan_.filter.size()),
                            const_cast<sock_filter*>(plan_.filter.data())};
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, JailStep::kFilter);
    execve(plan_.arguments[0], const_cast<char* const*>(plan_.arguments), const_cast<char* const*>(plan_.environment));
    report(JailStep::kProgram, errno);
    leave(1);
  }

  void set_limits() const {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, static_cast<uint64_t>(plan_.seconds));
    limit(RLIMIT_FSIZE, plan_.file_bytes);
    limit(RLIMIT_NOFILE, kOpenFiles);
    limit(RLIMIT_NPROC, static_cast<uint64_t>(plan_.threads) + 1);  // and the process above
    limit(RLIMIT_STACK, kStackBytes);
    limit(RLIMIT_AS, plan_.memory_bytes);
  }

  // No higher than the limit that is in force already.
  void limit(int what, uint64_t value) const {
    rlimit limits = {};
    check(syscall(SYS_prlimit64, 0, what, nullptr, &limits) == 0, JailStep::kLimits);
    if (limits.rlim_max > value) limits.rlim_max = value;
    limits.rlim_cur = limits.rlim_max;
    check(syscall(SYS_prlimit64, 0, what, &limits, nullptr) == 0, JailStep::kLimits);
  }

  // Others end, too, that the program has left behind.
  static int wait_for(pid_t program) {
    int status = 0;
    for (pid_t ended = 0; ended != program;) {
      ended = waitpid(-1, &status, 0);
      if (ended < 0 && errno != EINTR) leave(1);
    }
    return status;
  }

  const JailPlan& plan_;
};

}  // namespace

const unsigned long kJailNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

void run_jail(const JailPlan& plan) { Jail(plan).run(); }

}  // namespace vase::eval
