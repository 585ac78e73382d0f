#include "eval/sandbox/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "eval/no_verdict.h"
#include "eval/sandbox/descriptor.h"
#include "eval/sandbox/jail.h"
#include "eval/sandbox/syscall_filter.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kNobody = 65534;
constexpr size_t kErrorTail = 2000;
constexpr const char* kInterpreters[] = {"/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"};
// Nothing of the user's environment; libraries for arrays take one thread.
constexpr const char* kEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "HOME=/tmp",
                                        "TMPDIR=/tmp",
                                        "LANG=C.UTF-8",
                                        "PYTHONHASHSEED=0",
                                        "OMP_NUM_THREADS=1",
                                        "OPENBLAS_NUM_THREADS=1",
                                        nullptr};

[[noreturn]] void fail_short(const std::string& what) {
  throw Error(ErrorCode::kResource, "the sandbox cannot " + what + ": " + std::strerror(errno));
}

[[noreturn]] void fail_unsupported(const std::string& what) {
  throw Error(
      ErrorCode::kUnsupported,
      "this machine cannot run code safely: " + what +
          ". It takes Linux 5.14 or later on x86-64 or 64-bit ARM, where this user may make user namespaces (in a "
          "container often not); else leave out --run-code");
}

// The jail gives 0 to 9 a meaning of its own.
Descriptor above_standard(int number, const char* what) {
  const Descriptor low(number);
  if (number < 0) fail_short(what);
  Descriptor high(fcntl(number, F_DUPFD_CLOEXEC, 10));
  if (high.get() < 0) fail_short(what);
  return high;
}

Descriptor memory_file(const char* name) {
  return above_standard(static_cast<int>(syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING)),
                        "hold a file in memory");
}

// A regular file, as `< input` gives: some programs ask for its size. The program cannot change it.
Descriptor input_file(std::string_view input) {
  Descriptor file = memory_file("input");
  for (size_t done = 0; done < input.size();) {
    const ssize_t written = write(file.get(), input.data() + done, input.size() - done);
    if (written <= 0) fail_short("hold the input in memory");
    done += static_cast<size_t>(written);
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    fail_short("seal the input");
  }
  return file;
}

std::string contents_from(const Descriptor& file, size_t most, bool tail) {
  struct stat about;
  if (fstat(file.get(), &about) != 0) fail_short("read what the program wrote");
  const size_t size = static_cast<size_t>(about.st_size), from = tail && size > most ? size - most : 0;
  std::string text(std::min(size - from, most), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(from + done));
    if (got <= 0) fail_short("read what the program wrote");
    done += static_cast<size_t>(got);
  }
  return text;
}

struct Pipe {
  Descriptor read, write;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_short("make a pipe");
    const Descriptor first(ends[0]), second(ends[1]);
    read = Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, 10));
    write = Descriptor(fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
    if (read.get() < 0 || write.get() < 0) fail_short("make a pipe");
  }
};

// The process of the jail; it and all that it started is gone when this goes out of scope.
class Child {
 public:
  // Signals wait meanwhile: the copy has this program's handlers until it has forgotten them.
  explicit Child(const JailPlan& plan) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const long made = syscall(SYS_clone, kJailNamespaces | SIGCHLD, 0L, 0L, 0L, 0L);
    if (made == 0) run_jail(plan);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (made < 0) fail_unsupported(std::string("namespaces are refused (") + std::strerror(error) + ")");
    id_ = static_cast<pid_t>(made);
  }
  ~Child() {
    kill(id_, SIGKILL);
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Who the user inside is, seen from outside.
  void map_user() const {
    const bool root = geteuid() == 0;
    // Without the right to set groups, the kernel wants them given up before a group is mapped.
    if (!root) write_setting("setgroups", "deny");
    write_setting("gid_map", std::to_string(kUserInside) + " " + std::to_string(root ? kNobody : getegid()) + " 1");
    write_setting("uid_map", std::to_string(kUserInside) + " " + std::to_string(root ? kNobody : geteuid()) + " 1");
  }

 private:
  void write_setting(const char* name, const std::string& text) const {
    const std::string path = "/proc/" + std::to_string(id_) + "/" + name;
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      fail_unsupported(std::string("the user cannot be mapped (") + std::strerror(errno) + ")");
    }
  }

  pid_t id_ = -1;
};

const char* step_text(JailStep step) {
  switch (step) {
    case JailStep::kUser:
      return "the user cannot be changed";
    case JailStep::kParent:
      return "its process cannot be bound to this one";
    case JailStep::kMounts:
      return "its file system cannot be made";
    case JailStep::kFiles:
      return "its files cannot be written";
    case JailStep::kDescriptors:
      return "its files cannot be handed over";
    case JailStep::kStart:
      return "its process cannot be started";
    case JailStep::kLimits:
      return "its limits cannot be set";
    case JailStep::kFilter:
      return "its system calls cannot be filtered";
    case JailStep::kProgram:
      return "the interpreter cannot be run by everybody";
    case JailStep::kEnded:
      break;
  }
  return "it failed";
}

// What the jail reports; nothing when the time is over before.
std::optional<JailReport> wait_for_report(const Descriptor& from, int milliseconds) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{from.get(), POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (ready == 0) return std::nullopt;
    if (ready < 0 && errno != EINTR) fail_short("wait for the program");
    if (ready < 0) continue;
    JailReport report;
    if (read(from.get(), &report, sizeof report) == static_cast<ssize_t>(sizeof report)) return report;
    throw NoVerdict(ErrorCode::kResource, "the sandbox was ended from outside; is the machine out of memory?");
  }
}

ProgramRun outcome(const std::optional<JailReport>& report) {
  ProgramRun run;
  if (!report) {
    run.end = RunEnd::kTimeout;
  } else if (report->step != JailStep::kEnded) {
    fail_unsupported(std::string(step_text(report->step)) + " (" + std::strerror(report->value) + ")");
  } else if (WIFSIGNALED(report->value)) {
    run.end = RunEnd::kKilled;
    run.code = WTERMSIG(report->value);
  } else {
    run.code = WEXITSTATUS(report->value);
  }
  return run;
}

std::string find_interpreter(const std::string& given) {
  if (!given.empty()) {
    if (access(given.c_str(), X_OK) == 0) return given;
    throw Error(ErrorCode::kNotFound, "cannot run the interpreter " + given + "; give the path of python3");
  }
  for (const char* path : kInterpreters) {
    if (access(path, X_OK) == 0) return path;
  }
  throw Error(ErrorCode::kNotFound, "no python3 in /usr/local/bin, /usr/bin or /bin; install it to run code");
}

}  // namespace

Sandbox::Sandbox(const SandboxLimits& limits, const std::string& python)
    : limits_(limits), python_(find_interpreter(python)), filter_(syscall_filter()) {
  if (limits.milliseconds < 1 || limits.memory_bytes < 1 || limits.file_bytes < 1 || limits.threads < 1) {
    throw Error(ErrorCode::kUsage, "a limit of the sandbox is below 1; allowed: 1 or more");
  }
  if (filter_.empty()) fail_unsupported("there is no filter of system calls for its CPU");
  try_out();
}

void Sandbox::try_out() const {
  const ProgramRun tried = run({{"program.py", "print(input())"}}, "ready\n");
  if (tried.end == RunEnd::kExited && tried.code == 0 && tried.output == "ready\n") return;
  const std::string told = tried.end == RunEnd::kTimeout  ? "it took too long"
                           : tried.end == RunEnd::kKilled ? "killed by signal " + std::to_string(tried.code)
                                                          : tried.errors.substr(0, tried.errors.find('\n'));
  throw Error(ErrorCode::kUnsupported, python_ + " does not run within the limits of the sandbox (" + told +
                                           "); allow it more, or give another interpreter");
}

ProgramRun Sandbox::run(const std::vector<ProgramFile>& files, std::string_view input) const {
  const std::string folder = "mode=0700,nr_inodes=256,size=" + std::to_string(limits_.file_bytes);
  const char* const arguments[] = {python_.c_str(), "-s", "-B", "-X", "utf8", files.at(0).name.c_str(), nullptr};
  std::vector<JailPlan::File> views;
  for (const ProgramFile& file : files) views.push_back({file.name.c_str(), file.text.data(), file.text.size()});
  const Descriptor in = input_file(input), out = memory_file("output"), errors = memory_file("errors");
  Pipe report, go;
  const JailPlan plan = {arguments,
                         kEnvironment,
                         views,
                         folder.c_str(),
                         filter_,
                         limits_.memory_bytes,
                         limits_.file_bytes,
                         limits_.milliseconds / 1000 + 2,
                         limits_.threads,
                         geteuid() == 0,
                         in.get(),
                         out.get(),
                         errors.get(),
                         report.write.get(),
                         go.read.get(),
                         go.write.get()};
  ProgramRun run;
  {
    const Child child(plan);
    report.write.reset();
    child.map_user();
    if (write(go.write.get(), "", 1) != 1) fail_short("start the program");
    run = outcome(wait_for_report(report.read, limits_.milliseconds));
  }
  run.output = contents_from(out, limits_.file_bytes, false);
  run.errors = contents_from(errors, kErrorTail, true);
  return run;
}

}  // namespace vase::eval
