// `vase eval run --server` as a user meets it: what the server refuses, and going on at another address.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli_fixture.h"
#include "eval/run/fake_chat_server.h"

namespace vase {
namespace {

namespace fs = std::filesystem;
using eval::FakeChatServer;
using nlohmann::json;

class CliEvalServer : public Cli {
 protected:
  CliEvalServer() {
    fs::create_directory(folder_);
    std::ofstream out(path("problems.jsonl"));
    for (int i = 0; i < 4; ++i) {
      const std::string n = std::to_string(i);
      out << json({{"id", "p" + n}, {"problem", "How many? " + n}, {"answer", "7"}}).dump() << "\n";
    }
  }
  ~CliEvalServer() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  Outcome ask(const FakeChatServer& server, const std::string& out, const std::string& flags = "") const {
    return vase("eval run --server " + server.url() + " --server-model m --greedy --task jsonl=" +
                path("problems.jsonl") + " --out " + path(out) + " " + flags);
  }
  std::set<std::string> ids(const std::string& out) const {
    std::set<std::string> all;
    std::ifstream in(path(out) + "/results.jsonl");
    for (std::string line; std::getline(in, line);) all.insert(json::parse(line)["id"]);
    return all;
  }
  json config(const std::string& out) const { return json::parse(contents(path(out) + "/config.json")); }

  const std::string folder_ = test::temporary_path(".server");
};

void agree(int, const json&, httplib::Response& response) { eval::say(response, "\\boxed{7}"); }

void refuse_p2(int number, const json& request, httplib::Response& response) {
  const std::string text = request["messages"][0]["content"];
  if (text.starts_with("How many? 2")) return eval::fail_with(response, 400, "too long for me");
  agree(number, request, response);
}

TEST_F(CliEvalServer, RefusedTextsAreNamedAndAskedForAgain) {
  FakeChatServer server(refuse_p2);
  for (const size_t requests : {4, 5}) {
    const Outcome o = ask(server, "out");
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_NE(o.err.find("1 of 4 texts are left out"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("  p2 of problems, server:m, run 0, sample 0: the server at " + server.url() +
                         ": it answered 400: too long for me\n"),
              std::string::npos)
        << o.err;
    EXPECT_NE(o.out.find("| problems | server:m |"), std::string::npos) << o.out;
    EXPECT_EQ(ids("out"), (std::set<std::string>{"p0", "p1", "p3"}));
    EXPECT_EQ(server.requests().size(), requests);
  }
}

TEST_F(CliEvalServer, ARunGoesOnAtAnotherAddress) {
  FakeChatServer first(refuse_p2), second(agree);
  ASSERT_EQ(ask(first, "out").code, 1);
  const Outcome o = ask(second, "out");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(second.requests().size(), 1u);
  EXPECT_EQ(ids("out").size(), 4u);
  EXPECT_EQ(config("out")["server"], first.url());
  expect_usage_error(ask(second, "out", "--max-tokens 5"), {"another configuration", "max_tokens"});
}

TEST_F(CliEvalServer, ShardsOfTwoServersMerge) {
  FakeChatServer first(agree), second(agree);
  ASSERT_EQ(ask(first, "one", "--shard 1/2").code, 0);
  ASSERT_EQ(ask(second, "two", "--shard 2/2").code, 0);
  const Outcome o = vase("eval merge " + path("all") + " " + path("one") + " " + path("two"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(ids("all").size(), 4u);
  EXPECT_EQ(config("all")["commands"].size(), 2u);
}

TEST_F(CliEvalServer, ARefusalOfEveryRequestEndsTheRun) {
  FakeChatServer server([](int, const json&, httplib::Response& response) {
    eval::fail_with(response, 404, "no such model");
  });
  const Outcome o = ask(server, "out", "--sequences 1");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("404: no such model"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("--server-model"), std::string::npos) << o.err;
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CliEvalServer, WhatAServerSaysDoesNotReachTheTerminalRaw) {
  FakeChatServer server([](int number, const json& request, httplib::Response& response) {
    const std::string text = request["messages"][0]["content"];
    if (text.starts_with("How many? 2")) return eval::fail_with(response, 400, "\x1b[31mred\ntwo \u009blines");
    agree(number, request, response);
  });
  const std::string name = " --server-model \"$(printf 'm\\033[2J|n')\"";
  const Outcome o = vase("eval run --server " + server.url() + name + " --greedy --task jsonl=" +
                         path("problems.jsonl") + " --out " + path("out"));
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(o.err.find('\x1b'), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("?[31mred?two ?lines\n"), std::string::npos) << o.err;
  EXPECT_EQ(o.out.find('\x1b'), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("| problems | server:m?[2J\\|n |"), std::string::npos) << o.out;
}

TEST_F(CliEvalServer, TheTimeoutIsCalledWhatItIs) {
  EXPECT_NE(vase("eval run --help").out.find("longest silence of the server"), std::string::npos);
}

}  // namespace
}  // namespace vase
