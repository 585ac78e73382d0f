#include "eval/grading/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "vase/error.h"

extern char** environ;

namespace vase::eval::grading {

class ChildProcess::Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  // Whether the socket is ready for what is asked before the time is over.
  bool wait(int socket, short events) const {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
      if (left <= 0) return false;
      pollfd entry{socket, events, 0};
      const int ready = poll(&entry, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

namespace {

// The child's streams and its own process group, in the terms of posix_spawn.
class SpawnTerms {
 public:
  explicit SpawnTerms(int socket) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
  }
  ~SpawnTerms() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnTerms(const SpawnTerms&) = delete;
  SpawnTerms& operator=(const SpawnTerms&) = delete;

  int spawn(pid_t& pid, char* const* arguments) const {
    return posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorCode::kResource,
                std::string("cannot make a connection to ") + command[0] + ": " + std::strerror(errno));
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error = SpawnTerms(ends[1]).spawn(pid_, arguments.data());
  close(ends[1]);
  socket_ = ends[0];
  if (error == 0) return;
  close(socket_);
  throw Error(ErrorCode::kNotFound, "cannot run " + command[0] + ": " + std::strerror(error));
}

ChildProcess::~ChildProcess() {
  close(socket_);
  kill(-pid_, SIGKILL);  // and what it may have started
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ChildProcess::Outcome ChildProcess::ask(std::string_view line, double seconds, std::string& answer) {
  const Deadline deadline(seconds);
  const Outcome written = write_line(std::string(line) + "\n", deadline);
  return written == Outcome::kDone ? read_line(deadline, answer) : written;
}

ChildProcess::Outcome ChildProcess::read_line(double seconds, std::string& line) {
  return read_line(Deadline(seconds), line);
}

ChildProcess::Outcome ChildProcess::write_line(std::string_view line, const Deadline& deadline) {
  while (!line.empty()) {
    if (!deadline.wait(socket_, POLLOUT)) return Outcome::kLate;
    const ssize_t sent = send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      line.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EINTR && errno != EAGAIN)
      return Outcome::kEnded;
  }
  return Outcome::kDone;
}

ChildProcess::Outcome ChildProcess::read_line(const Deadline& deadline, std::string& line) {
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return Outcome::kDone;
    }
    if (!deadline.wait(socket_, POLLIN)) return Outcome::kLate;
    char bytes[4096];
    const ssize_t got = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0)
      unread_.append(bytes, static_cast<size_t>(got));
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
      return Outcome::kEnded;
  }
}

}  // namespace vase::eval::grading
