// One log callback for the whole process, many guards.
#include "ggml_log/quiet_ggml.h"

#include <gguf.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <barrier>
#include <string>
#include <thread>

namespace vase {
namespace {

// Makes ggml log an error that names the path.
void fail_to_open(const std::string& path) {
  EXPECT_EQ(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}), nullptr);
}

// Counts the lines that reach a callback which the program has set itself.
class QuietGgmlTest : public testing::Test {
 protected:
  void SetUp() override { llama_log_set(&count, &lines_); }
  void TearDown() override { llama_log_set(nullptr, nullptr); }

  static void count(ggml_log_level, const char*, void* lines) { ++*static_cast<int*>(lines); }

  int lines_ = 0;
};

TEST_F(QuietGgmlTest, SwallowsAndHandsTheCallbackBack) {
  fail_to_open("/nonexistent/before");
  const int before = lines_;
  EXPECT_GT(before, 0);
  {
    const QuietGgml outer;
    {
      const QuietGgml inner;
      fail_to_open("/nonexistent/inner");
      EXPECT_NE(inner.first_error().find("/nonexistent/inner"), std::string::npos) << inner.first_error();
    }
    EXPECT_EQ(outer.first_error(), "");
    fail_to_open("/nonexistent/first");
    fail_to_open("/nonexistent/second");
    EXPECT_NE(outer.first_error().find("/nonexistent/first"), std::string::npos) << outer.first_error();
  }
  EXPECT_EQ(lines_, before);
  fail_to_open("/nonexistent/after");
  EXPECT_GT(lines_, before);
}

TEST_F(QuietGgmlTest, ACallbackThatWasSetMeanwhileStays) {
  int other = 0;
  {
    const QuietGgml quiet;
    llama_log_set(&count, &other);
  }
  fail_to_open("/nonexistent");
  EXPECT_GT(other, 0);
  EXPECT_EQ(lines_, 0);
}

// The first guard ends while the second still listens, in every order of the two threads.
TEST_F(QuietGgmlTest, GuardsOverlapOnTwoThreads) {
  constexpr int kRounds = 200;
  std::barrier<> step(2);
  const auto run = [&](const std::string& name, bool leaves_first) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string path = "/nonexistent/" + name + std::to_string(i);
      {
        const QuietGgml quiet;
        step.arrive_and_wait();
        if (!leaves_first) step.arrive_and_wait();  // the other one is gone
        fail_to_open(path);
        EXPECT_NE(quiet.first_error().find(path), std::string::npos) << quiet.first_error();
      }
      if (leaves_first) step.arrive_and_wait();
      leaves_first = !leaves_first;
    }
  };
  std::thread other(run, "b", true);
  run("a", false);
  other.join();
  EXPECT_EQ(lines_, 0);
  fail_to_open("/nonexistent/after");
  EXPECT_GT(lines_, 0);
}

// No order but what the scheduler makes of it.
TEST_F(QuietGgmlTest, GuardsComeAndGoFreely) {
  const auto run = [](const std::string& name) {
    for (int i = 0; i < 500; ++i) {
      const QuietGgml quiet;
      const std::string path = "/nonexistent/" + name + std::to_string(i);
      fail_to_open(path);
      EXPECT_NE(quiet.first_error().find(path), std::string::npos) << quiet.first_error();
    }
  };
  std::thread other(run, "b");
  run("a");
  other.join();
  EXPECT_EQ(lines_, 0);
}

}  // namespace
}  // namespace vase
