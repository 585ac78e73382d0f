// Tests of `vase eval run`: small problems, tiny models, and a process that can be killed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/cli_fixture.h"

namespace vase {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;

// `vase <arguments>` beside the test, its output thrown away.
class Background {
 public:
  explicit Background(const std::string& arguments) : child_(fork()) {
    if (child_ != 0) return;
    const int null = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(null, stream);
    execl("/bin/sh", "sh", "-c", ("exec " VASE_BINARY " " + arguments).c_str(), nullptr);
    _exit(127);
  }
  ~Background() {
    if (child_ > 0) end(SIGKILL);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  bool running() {
    if (child_ > 0 && waitpid(child_, &status_, WNOHANG) == child_) child_ = -1;
    return child_ > 0;
  }
  void pause() const { kill(child_, SIGSTOP); }
  // Sends the signal; the exit code, or minus the signal that ended it.
  int end(int signal) {
    if (running()) {
      kill(child_, signal);
      waitpid(child_, &status_, 0);
      child_ = -1;
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }

 private:
  pid_t child_;
  int status_ = 0;
};

class CliEvalRun : public Cli {
 protected:
  CliEvalRun() {
    fs::create_directory(folder_);
    std::ofstream out(problems_);
    for (int i = 0; i < 5; ++i) {
      out << json({{"id", "p" + std::to_string(i)},
                   {"problem", "How many? " + std::to_string(i)},
                   {"answer", "7"}})
                 .dump()
          << "\n";
    }
  }
  ~CliEvalRun() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // A random model, evicting: what it writes depends on every seed.
  std::string random_run(const std::string& out, const std::string& flags = "", int samples = 3) const {
    return "eval run --threads 1 --model " + random_.path() + " --task jsonl=" + problems_ +
           " --policy full --policy vase-attnv --kv-budget 48 --kv-buffer 8 --max-tokens 150 --sequences 3 "
           "--samples " +
           std::to_string(samples) + " --out " + path(out) + " " + flags;
  }
  // A model that says "\boxed{7}" and ends.
  std::string right_run(const std::string& out, const std::string& flags = "") const {
    return "eval run --threads 1 --model " + right_.path() + " --task jsonl=" + problems_ +
           " --greedy --max-tokens 50 --out " + path(out) + " " + flags;
  }

  // The lines of a results file by their key, without what differs from one time to the next.
  std::map<std::string, json> lines(const std::string& out) const {
    std::map<std::string, json> all;
    std::ifstream in(path(out) + "/results.jsonl");
    for (std::string text; std::getline(in, text);) {
      json line = json::parse(text);
      line.erase("timing");
      std::ostringstream key;
      key << line["id"] << line["policy"] << line["budget"] << line["run"] << line["sample"];
      EXPECT_TRUE(all.emplace(key.str(), line).second) << key.str() << " comes twice";
    }
    return all;
  }
  size_t line_count(const std::string& out) const {
    const std::string text = contents(path(out) + "/results.jsonl");
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  // Waits until the file has so many lines or the process is over.
  void wait_for_lines(Background& process, const std::string& out, size_t count) const {
    while (process.running() && line_count(out) < count) std::this_thread::sleep_for(milliseconds(1));
  }

  const std::string folder_ = test::temporary_path(".eval"), problems_ = folder_ + "/problems.jsonl";
  test::TinyModel random_{{.context = 1024}};
  test::TinyModel right_{
      {.embedding = 512, .cycle = {'\\', 'b', 'o', 'x', 'e', 'd', '{', '7', '}', test::kImEnd}}};
};

}  // namespace vase
