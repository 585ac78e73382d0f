// Items that a server generates, several at a time.
#include "eval/run/server_run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <set>

#include "fake_chat_server.h"
#include "run_helpers.h"
#include "support/resident.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

class ServerRun : public testing::Test {
 protected:
  ServerRun() {
    plan_.sources.push_back(source("a", 6));
    plan_.cells = {{"server:m", Policy(), 0}};
    options_.engine.sequences = 3;
    items_ = items_of(plan_, plan_.cells[0]);
  }

  bool run(const FakeChatServer& server, const std::function<bool()>& stop = [] { return false; }) {
    ChatServerOptions options;
    options.url = server.url();
    options.model = "m";
    options.attempts = 2;
    options.first_wait = std::chrono::milliseconds(1);
    return run_on_server(options, options_, items_,
                         {.on_finished =
                              [this](const Planned& planned, const Result& r, const Generation& g) {
                                EXPECT_EQ(planned.item.key(), r.item.key());
                                texts_[r.item.problem_id] = g.text;
                              },
                          .on_refused = [this](const Planned& planned,
                                               const std::string& why) { refused_[planned.item.problem_id] = why; },
                          .on_retry = [this](const std::string& why) { retries_.push_back(why); },
                          .on_tick = [](int, int64_t) {},
                          .stop = stop});
  }

  RunPlan plan_;
  GenerationOptions options_;
  std::vector<Planned> items_;
  std::map<std::string, std::string> texts_, refused_;
  std::vector<std::string> retries_;
};

TEST_F(ServerRun, EveryItemGetsItsOwnAnswer) {
  FakeChatServer server([](int, const json& request, httplib::Response& response) {
    say(response, "to: " + request["messages"][0]["content"].get<std::string>());
  });
  EXPECT_TRUE(run(server));
  ASSERT_EQ(texts_.size(), 6u);
  EXPECT_EQ(texts_["a-4"], "to: problem 4 Go.");
  std::set<uint64_t> seeds;
  for (const json& request : server.requests()) seeds.insert(request["seed"].get<uint64_t>());
  EXPECT_EQ(seeds.size(), 6u);
}

TEST_F(ServerRun, ServerThatFailsOnceIsToldOf) {
  FakeChatServer server([](int n, const json&, httplib::Response& response) {
    if (n == 0) return fail_with(response, 503, "loading");
    say(response, "hi");
  });
  EXPECT_TRUE(run(server));
  EXPECT_EQ(texts_.size(), 6u);
  ASSERT_EQ(retries_.size(), 1u);
  EXPECT_NE(retries_[0].find("503"), std::string::npos) << retries_[0];
}

// Would wait for ever if requests came one after the other.
TEST_F(ServerRun, SeveralRequestsAreUnderWay) {
  std::mutex mutex;
  std::condition_variable changed;
  int there = 0;
  FakeChatServer server([&](int, const json&, httplib::Response& response) {
    std::unique_lock lock(mutex);
    ++there;
    changed.notify_all();
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return there >= 3; }));
    say(response, "x");
  });
  EXPECT_TRUE(run(server));
}

TEST_F(ServerRun, WhatWasFinishedBeforeAFailureIsHandedOver) {
  options_.engine.sequences = 1;
  FakeChatServer server([](int number, const json&, httplib::Response& response) {
    number < 4 ? say(response, "x") : drop(response);
  });
  try {
    run(server);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResource);
  }
  EXPECT_EQ(texts_.size(), 4u);
}

TEST_F(ServerRun, TheErrorNamesTheItem) {
  options_.engine.sequences = 1;
  FakeChatServer server([](int number, const json&, httplib::Response& response) {
    number < 2 ? say(response, "x") : fail_with(response, 404, "no such model");
  });
  try {
    run(server);
    ADD_FAILURE();
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_TRUE(message.starts_with("a-2 of a, server:m, run 0, sample 0: the server at ")) << message;
    EXPECT_NE(message.find("404: no such model; what is finished is kept"), std::string::npos) << message;
  }
  EXPECT_TRUE(refused_.empty());
}

TEST_F(ServerRun, WhatIsRefusedDoesNotStopTheOthers) {
  FakeChatServer server([](int, const json& request, httplib::Response& response) {
    const std::string text = request["messages"][0]["content"];
    if (text == "problem 1 Go.")
      fail_with(response, 400, "too long");
    else if (text == "problem 4 Go.")
      response.set_content("{}", "application/json");
    else
      say(response, "x");
  });
  EXPECT_TRUE(run(server));
  EXPECT_EQ(texts_.size(), 4u);
  ASSERT_EQ(refused_.size(), 2u);
  EXPECT_TRUE(refused_["a-1"].ends_with("it answered 400: too long")) << refused_["a-1"];
  EXPECT_NE(refused_["a-4"].find("choices[0].message"), std::string::npos) << refused_["a-4"];
  EXPECT_EQ(server.requests().size(), 6u);
}

// With one request at a time the third is asked for when the first two answers are there.
TEST_F(ServerRun, StopHandsOverWhatIsComplete) {
  options_.engine.sequences = 1;
  std::atomic<bool> third = false, release = false;
  FakeChatServer server([&](int number, const json&, httplib::Response& response) {
    third = third || number == 2;
    while (number == 2 && !release) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    say(response, "x");
  });
  EXPECT_FALSE(run(server, [&] {
    while (!third) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }));
  EXPECT_EQ(texts_.size(), 2u);
  release = true;
}

// In a process of its own, whose address space has room for a few stacks.
TEST_F(ServerRun, TooManyRequestsForTheMachine) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer takes more address space than there is";
  const pid_t child = fork();
  if (child == 0) {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{512} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    plan_.sources[0] = source("a", 4000);
    options_.engine.sequences = 4000;
    items_ = items_of(plan_, plan_.cells[0]);
    try {
      run_on_server({.url = "http://127.0.0.1:1", .model = "m", .attempts = 1}, options_, items_,
                    {.on_finished = [](const Planned&, const Result&, const Generation&) {},
                     .on_tick = [](int, int64_t) {},
                     .stop = [] { return false; }});
    } catch (const Error& e) {
      _exit(std::string(e.what()).find("give fewer --sequences") == std::string::npos ? 2 : 0);
    } catch (...) {
      _exit(3);
    }
    _exit(4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ServerRun, StopEndsRequestsThatAreUnderWay) {
  std::atomic<bool> release = false;
  FakeChatServer server([&](int number, const json&, httplib::Response& response) {
    while (number > 0 && !release) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    say(response, "x");
  });
  EXPECT_FALSE(run(server, [this] { return !texts_.empty(); }));
  EXPECT_EQ(texts_.size(), 1u);
  release = true;
}

}  // namespace
}  // namespace vase::eval
