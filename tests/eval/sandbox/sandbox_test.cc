// Programs that try to break out, to take more than they may, or to leave something behind.
#include "eval/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "eval/no_verdict.h"
#include "shared_sandbox.h"

namespace vase::eval {
namespace {

constexpr int kShort = 700;  // milliseconds: enough for an interpreter to start, and soon over

SandboxLimits quick() {
  SandboxLimits limits;
  limits.milliseconds = kShort;
  return limits;
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override { use({}); }

  void use(const SandboxLimits& limits) {
    made_ = make_sandbox(limits);
    if (!made_.sandbox) GTEST_SKIP() << made_.reason;
  }

  ProgramRun run(const std::string& program, const std::string& input = "") const {
    return made_.sandbox->run({{"program.py", program}}, input);
  }

  // What the program prints; it must end well.
  std::string printed(const std::string& program, const std::string& input = "") const {
    const ProgramRun r = run(program, input);
    EXPECT_EQ(r.end, RunEnd::kExited) << r.errors;
    EXPECT_EQ(r.code, 0) << r.errors;
    return r.output;
  }

  // The program fails with this exception.
  void expect_raises(const std::string& program, const std::string& exception) const {
    const ProgramRun r = run(program);
    EXPECT_EQ(r.end, RunEnd::kExited);
    EXPECT_EQ(r.code, 1) << r.output;
    EXPECT_NE(r.errors.find(exception), std::string::npos) << r.errors;
  }

  MaybeSandbox made_;
};

TEST_F(SandboxTest, RunsAProgram) {
  EXPECT_EQ(printed("a, b = map(int, input().split())\nprint(a + b)", "3 4\n"), "7\n");
  EXPECT_EQ(printed("print('\\u00e4')"), "\xc3\xa4\n");
  EXPECT_EQ(run("raise SystemExit(3)").code, 3);
  expect_raises("undefined", "NameError: name 'undefined' is not defined");
}

TEST_F(SandboxTest, HandsOverOtherFiles) {
  const ProgramRun r = made_.sandbox->run({{"a.py", "print(open('b.txt').read())"}, {"b.txt", "other"}}, "");
  EXPECT_EQ(r.output, "other\n") << r.errors;
}

TEST_F(SandboxTest, LargeInputsAndTheirSize) {
  const std::string input(5'000'000, 'x');
  EXPECT_EQ(printed("import os\ns = os.read(0, os.fstat(0).st_size)\nprint(len(s))", input), "5000000\n");
}

TEST_F(SandboxTest, InputCannotBeChanged) {
  EXPECT_NE(run("import os\nos.ftruncate(0, 0)", "abc").code, 0);
  EXPECT_NE(run("import os\nos.write(0, b'more')", "abc").code, 0);
}

TEST_F(SandboxTest, EndlessLoopsAreStopped) {
  use(quick());
  EXPECT_EQ(run("while True: pass").end, RunEnd::kTimeout);
  EXPECT_EQ(run("import time\ntime.sleep(1000)").end, RunEnd::kTimeout);
  const ProgramRun r =
      run("import signal, sys\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n"
          "  except Exception: pass\nprint('begun', flush=True)\nwhile True: pass");
  EXPECT_EQ(r.end, RunEnd::kTimeout);
  EXPECT_EQ(r.output, "begun\n");  // what was written until then
}

TEST_F(SandboxTest, MemoryIsBounded) {
  SandboxLimits limits;
  limits.memory_bytes = uint64_t{256} << 20;
  use(limits);
  EXPECT_EQ(printed("print(len(bytearray(100 << 20)))"), "104857600\n");
  expect_raises("bytearray(300 << 20)", "MemoryError");
  expect_raises("import mmap\nmaps = [mmap.mmap(-1, 50 << 20) for i in range(10)]", "annot allocate memory");
}

TEST_F(SandboxTest, NoOtherProcesses) {
  expect_raises("import os\nwhile True: os.fork()", "PermissionError");
  expect_raises("import subprocess\nsubprocess.run(['/bin/true'])", "PermissionError");
  expect_raises("import os\nos.posix_spawn('/bin/true', ['true'], {})", "PermissionError");
  EXPECT_NE(printed("import os\nprint(os.system('true'))"), "0\n");
}

TEST_F(SandboxTest, ThreadsAreAllowedAndBounded) {
  EXPECT_EQ(printed("import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start()\nt.join()"),
            "in a thread\n");
  SandboxLimits limits;
  limits.threads = 5;
  use(limits);
  const std::string many =
      "import threading, time\nthreading.stack_size(1 << 16)\ncount = 0\n"
      "try:\n  for i in range(100):\n    threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()\n    "
      "count += 1\n"
      "except RuntimeError: pass\nprint(count)";
  EXPECT_EQ(printed(many), "4\n");  // and the one that starts them
}

TEST_F(SandboxTest, NoNetwork) {
  expect_raises("import socket\nsocket.socket()", "PermissionError");
  expect_raises("import socket\nsocket.socket(socket.AF_UNIX)", "PermissionError");
  expect_raises("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:80')", "not permitted");
  const std::string ours = std::filesystem::read_symlink("/proc/self/ns/net");
  EXPECT_NE(printed("import os\nprint(os.path.exists('/proc/self') and os.readlink('/proc/self/ns/net'))"),
            ours + "\n");
}

TEST_F(SandboxTest, FilesCannotBeWrittenOutside) {
  const std::string tries =
      "for folder in ['/', '/etc', '/home', '/root', '/var/tmp', '/dev/shm', '/run', '/usr/local', '" +
      std::filesystem::current_path().string() +
      "', '.', '/tmp']:\n"
      "  try:\n    open(folder + '/vase-sandbox-test', 'w').write('x')\n    print(folder)\n  except OSError: pass";
  EXPECT_EQ(printed(tries), ".\n/tmp\n");
  EXPECT_EQ(printed("import os\nprint(os.getcwd(), sorted(os.listdir('.')))"),
            "/tmp ['program.py']\n");  // a new folder
  EXPECT_FALSE(std::filesystem::exists("/tmp/vase-sandbox-test"));
}

TEST_F(SandboxTest, FilesAreBounded) {
  SandboxLimits limits;
  limits.file_bytes = 1 << 20;
  use(limits);
  expect_raises("with open('big', 'wb') as f:\n  for i in range(100): f.write(bytes(1 << 16))", "OSError");
  expect_raises("for n in range(100):\n  with open(str(n), 'wb') as f: f.write(bytes(1 << 16))", "No space left");
  expect_raises("for n in range(1000): open(str(n), 'w').close()", "No space left");
  expect_raises("files = [open('program.py') for i in range(1000)]", "Too many open files");
}

TEST_F(SandboxTest, OutputIsBounded) {
  SandboxLimits limits;
  limits.file_bytes = 1 << 20;
  use(limits);
  const ProgramRun out = run("while True: print('x' * 1000)");
  EXPECT_EQ(out.end, RunEnd::kExited);
  EXPECT_NE(out.code, 0);
  EXPECT_LE(out.output.size(), limits.file_bytes);
  EXPECT_GT(out.output.size(), limits.file_bytes / 2);
  const ProgramRun errors = run("import sys\nsys.stderr.write('x' * 5000 + 'end')");
  EXPECT_EQ(errors.errors.size(), 2000u);
  EXPECT_TRUE(errors.errors.ends_with("end"));
}

TEST_F(SandboxTest, OthersCannotBeSeenOrStopped) {
  EXPECT_EQ(
      printed("import os\nprint(os.getuid(), os.getgid(), len([p for p in os.listdir('/proc') if p.isdigit()]) <= 2)"),
      "1000 1000 True\n");
  EXPECT_EQ(printed("import os\nfor p in (os.getppid(), 1, -1):\n  try: os.kill(p, 9)\n  except ProcessLookupError: "
                    "pass\nprint('still here')"),
            "still here\n");
  EXPECT_EQ(
      printed(
          "import os\nfor name in ('fd', 'environ', 'maps', 'mem', 'root/etc'):\n  path = '/proc/1/' + name\n"
          "  try: print(os.listdir(path) if name in ('fd', 'root/etc') else open(path, 'rb').read(1))\n"
          "  except OSError: pass\nprint('nothing')"),
      "nothing\n");
  // A group of its own: it ends itself and nobody else.
  const ProgramRun r = run("import os\nos.kill(0, 9)");
  EXPECT_EQ(r.end, RunEnd::kKilled);
  EXPECT_EQ(r.code, SIGKILL);
}

TEST_F(SandboxTest, RightsCannotBeGained) {
  const std::string call = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(";
  EXPECT_EQ(printed(call + "libc.unshare(0x10000000))"), "-1\n");
  EXPECT_EQ(printed(call + "libc.mount(b'x', b'/tmp', b'tmpfs', 0, None))"), "-1\n");
  EXPECT_EQ(printed(call + "libc.memfd_create(b'x', 0))"), "-1\n");
  EXPECT_EQ(printed(call + "libc.syscall(447, 0), ctypes.get_errno())"), "-1 1\n");  // memfd_secret: EPERM
  EXPECT_EQ(printed(call + "libc.setuid(0))"), "-1\n");
}

TEST_F(SandboxTest, NothingOfOursIsHandedOn) {
  setenv("VASE_SANDBOX_SECRET", "secret", 1);
  const int left_open = open("/etc/passwd", O_RDONLY);
  ASSERT_GE(left_open, 0);
  EXPECT_EQ(printed("import os\nprint(os.environ.get('VASE_SANDBOX_SECRET'))"), "None\n");
  const std::string open_ones =
      "import os\nfound = []\nfor n in range(3, 64):\n  try: found.append(os.fstat(n) and n)\n  except OSError: "
      "pass\nprint(found)";
  EXPECT_EQ(printed(open_ones), "[]\n");
  close(left_open);
  unsetenv("VASE_SANDBOX_SECRET");
}

TEST_F(SandboxTest, NoProcessStays) {
  use(quick());
  run("while True: pass");
  run("print(1)");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// A process that `parent` has started; 0: none.
pid_t child_of(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string stat;
    std::getline(std::ifstream(entry.path() / "stat"), stat);
    // "ID (PROGRAM) STATE PARENT ..."; the program's name may hold anything.
    const size_t behind = stat.rfind(')');
    if (behind != std::string::npos && std::atoi(stat.c_str() + behind + 4) == parent) return std::stoi(name);
  }
  return 0;
}

// As the machine does when memory is short. The sandbox is ready when it has started the program.
TEST_F(SandboxTest, EndedFromOutsideItHasNoVerdict) {
  std::thread ending([] {
    for (int i = 0; i < 500; ++i) {
      const pid_t sandbox = child_of(getpid());
      if (sandbox != 0 && child_of(sandbox) != 0) {
        kill(sandbox, SIGKILL);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_THROW(run("import time\ntime.sleep(600)"), NoVerdict);
  ending.join();
  EXPECT_EQ(printed("print('the next one')"), "the next one\n");
}

TEST(SandboxArguments, AreChecked) {
  SandboxLimits none;
  none.milliseconds = 0;
  EXPECT_THROW(Sandbox{none}, Error);
  try {
    Sandbox(SandboxLimits{}, "/no/python3");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(e.what()).find("/no/python3"), std::string::npos);
  }
}

TEST_F(SandboxTest, AnInterpreterThatDoesNotWorkIsNamed) {
  try {
    Sandbox(SandboxLimits{}, "/bin/false");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(e.what()).find("/bin/false"), std::string::npos);
  }
}

}  // namespace
}  // namespace vase::eval
