// Runs the `vase` program on a small model, as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/tiny_gguf.h"

namespace vase {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A text of 60 lines that differ.
inline void write_lines(const std::string& path, const std::string& word) {
  std::ofstream out(path);
  for (int i = 0; i < 60; ++i) out << word << " line " << i * i << ", ";
}

// Runs a command line through the shell, keeping what it prints; standard output goes to `sink` when one is
// given.
inline Outcome program(const std::string& line, const std::string& sink = "") {
  const std::string out = test::temporary_path(".out"), err = test::temporary_path(".err");
  const std::string command = line + " >" + (sink.empty() ? out : sink) + " 2>" + err;
  const int status = std::system(command.c_str());
  Outcome result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
  std::remove(out.c_str());
  std::remove(err.c_str());
  return result;
}

// Runs `vase <arguments>`; standard input is empty unless something stands before the command.
inline Outcome vase(const std::string& arguments, const std::string& before = "", const std::string& sink = "") {
  return program(before + VASE_BINARY " " + arguments + (before.empty() ? " </dev/null" : ""), sink);
}

class Cli : public testing::Test {
 protected:
  // A model that says "abcdef" for ever.
  test::TinyModel model_{{.embedding = 512, .cycle = {'a', 'b', 'c', 'd', 'e', 'f'}}};

  Outcome run(const std::string& flags, const std::string& prompt = "hi") const {
    return vase("run --raw --threads 1 --model " + model_.path() + " " + flags +
                (prompt.empty() ? "" : " " + prompt));
  }
  // One line, nothing on standard output, every word in the message.
  void expect_usage_error(const Outcome& o, const std::vector<std::string>& words) const {
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(o.out, "");
    const std::string message = o.err.substr(std::min(o.err.size(), o.err.rfind("vase: ")));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << o.err;
    for (const std::string& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << word << "\n" << o.err;
  }
};

}  // namespace vase
