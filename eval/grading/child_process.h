// A program that answers lines with lines, run beside ours.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vase::eval::grading {

class ChildProcess {
 public:
  // command: the program, looked for in PATH, and its arguments. Its messages for people go nowhere; a Ctrl-C at the
  // terminal does not reach it, and it sees the end of its input when this process is gone. Throws Error: kNotFound
  // when the program cannot be run, kResource.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();  // kills it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Outcome { kDone, kLate, kEnded };

  // One line without its end, and the line that answers it. seconds: most time that both may take. After anything but
  // kDone the child is of no more use.
  Outcome ask(std::string_view line, double seconds, std::string& answer);
  // The next line alone.
  Outcome read_line(double seconds, std::string& line);

 private:
  class Deadline;
  Outcome write_line(std::string_view line, const Deadline& deadline);
  Outcome read_line(const Deadline& deadline, std::string& line);

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string unread_;
};

}  // namespace vase::eval::grading
