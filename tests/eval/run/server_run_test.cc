// Items that a server generates, several at a time.
#include "eval/run/server_run.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <set>

#include "fake_chat_server.h"
#include "run_helpers.h"
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
                          .on_tick = [](int, int64_t) {},
                          .stop = stop});
  }

  RunPlan plan_;
  GenerationOptions options_;
  std::vector<Planned> items_;
  std::map<std::string, std::string> texts_;
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
