// The chat protocol: what is asked, what answers mean, and what happens when the network or the server fails.
#include "eval/run/chat_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "fake_chat_server.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

ChatServerOptions options_for(const FakeChatServer& server) {
  ChatServerOptions options;
  options.url = server.url();
  options.model = "m";
  options.timeout_s = 5;
  options.first_wait = std::chrono::milliseconds(1);
  return options;
}

bool never() { return false; }

std::string refusal(const std::function<void()>& act, ErrorCode code) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

TEST(ChatRequest, HoldsWhatWasAskedFor) {
  GenerationOptions options;
  options.system = "be brief";
  options.session.max_tokens = 77;
  options.session.stops = {"END"};
  options.session.sampling.top_k = 20;
  const json request = chat_request("m", options, "why?", 0x123456789ABCDEF0u);
  EXPECT_EQ(request["model"], "m");
  EXPECT_EQ(request["messages"],
            json::parse(R"([{"role":"system","content":"be brief"},{"role":"user","content":"why?"}])"));
  EXPECT_EQ(request["temperature"].dump(), "0.6");
  EXPECT_EQ(request["top_p"].dump(), "0.95");
  EXPECT_EQ(request["top_k"], 20);
  EXPECT_EQ(request["max_tokens"], 77);
  EXPECT_EQ(request["stop"], json({"END"}));
  EXPECT_EQ(request["seed"], 0x1ABCDEF0);
  EXPECT_EQ(request["stream"], false);
  const json plain = chat_request("m", {}, "why?", 0);
  for (const char* key : {"top_k", "min_p", "stop"}) EXPECT_FALSE(plain.contains(key)) << key;
  EXPECT_EQ(plain["messages"].size(), 1u);
}

TEST(ReadReply, AnswersAndHowTheyEnded) {
  const ChatReply reply = read_reply(
      R"({"choices":[{"message":{"content":"5"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":4}})");
  EXPECT_EQ(reply.text, "5");
  EXPECT_EQ(reply.finish, "eos");
  EXPECT_EQ(reply.prompt_tokens, 3);
  EXPECT_EQ(reply.generated_tokens, 4);
  EXPECT_EQ(read_reply(R"({"choices":[{"message":{"content":"5"},"finish_reason":"length"}]})").finish,
            "length");
}

TEST(ReadReply, CountsThatCannotBe) {
  for (const char* count : {"-5", "1e300", "7.5", "3000000000", "1000000000000000000", "\"9\"", "null"}) {
    const ChatReply reply =
        read_reply(R"({"choices":[{"message":{"content":"5"}}],"usage":{"prompt_tokens":)" +
                   std::string(count) + R"(,"completion_tokens":4}})");
    EXPECT_EQ(reply.prompt_tokens, 0) << count;
    EXPECT_EQ(reply.generated_tokens, 4) << count;
  }
}

TEST(ReadReply, ThinkingThatIsSentApartIsPutBack) {
  for (const std::string key : {"reasoning_content", "reasoning"}) {
    const std::string whole = R"({"choices":[{"message":{"content":"5","KEY":"hm"}}]})",
                      cut = R"({"choices":[{"message":{"content":null,"KEY":"hm"}}]})";
    const auto with_key = [&](std::string text) { return text.replace(text.find("KEY"), 3, key); };
    EXPECT_EQ(read_reply(with_key(whole)).text, "<think>\nhm\n</think>\n\n5");
    EXPECT_EQ(read_reply(with_key(cut)).text, "<think>\nhm");
  }
}

TEST(ReadReply, WhatIsNoAnswerIsRefused) {
  for (const char* body :
       {"", "<html>", "[]", "{}", R"({"choices":[]})", R"({"choices":[{}]})",
        R"({"choices":[{"message":"x"}]})", R"({"choices":{"message":{}}})", R"({"choices":[5]})"}) {
    EXPECT_NE(refusal([&] { read_reply(body); }, ErrorCode::kCorrupt).find("choices[0].message"),
              std::string::npos)
        << body;
  }
}

// It would count as a wrong answer for good.
TEST(ReadReply, NothingThatHasNotEndedIsNoAnswer) {
  const char* nothing = R"({"choices":[{"message":{"content":null},"finish_reason":null}]})";
  EXPECT_NE(refusal([&] { read_reply(nothing); }, ErrorCode::kCorrupt).find("finish_reason"), std::string::npos);
  EXPECT_EQ(read_reply(R"({"choices":[{"message":{"content":""},"finish_reason":"stop"}]})").finish, "eos");
}

TEST(ChatServer, OneThatDropsConnectionsMayBeTooSlow) {
  FakeChatServer server([](int, const json&, httplib::Response& response) { drop(response); });
  ChatServerOptions options = options_for(server);
  options.attempts = 1;
  EXPECT_NE(refusal([&] { ChatServer(options).ask(json::object(), never); }, ErrorCode::kResource).find("--server-timeout"),
            std::string::npos);
}

TEST(ChatServer, AddressesAreChecked) {
  for (const char* url : {"", "127.0.0.1:8080", "ftp://x", "http://", "http://a b", "http://u@h"}) {
    refusal([&] { ChatServer({.url = url, .model = "m"}); }, ErrorCode::kUsage);
  }
  EXPECT_NE(refusal([] { ChatServer({.url = "https://h", .model = "m"}); }, ErrorCode::kUsage).find("TLS"),
            std::string::npos);
}

TEST(ChatServer, TheAddressMayEndInV1) {
  FakeChatServer server([](int, const json&, httplib::Response& response) { say(response, "hi"); });
  for (const char* end : {"", "/", "/v1", "/v1/"}) {
    ChatServerOptions options = options_for(server);
    options.url += end;
    EXPECT_EQ(ChatServer(options).ask(json::object(), never).text, "hi") << end;
  }
}

TEST(ChatServer, DroppedConnectionsAndBusyServersAreAskedAgain) {
  FakeChatServer server([](int number, const json&, httplib::Response& response) {
    if (number == 0)
      drop(response);
    else if (number == 1)
      fail_with(response, 503, "loading");
    else if (number == 2)
      fail_with(response, 429, "slow down");
    else
      say(response, "at last");
  });
  EXPECT_EQ(ChatServer(options_for(server)).ask({{"n", 1}}, never).text, "at last");
  const std::vector<json> requests = server.requests();
  ASSERT_EQ(requests.size(), 4u);
  for (const json& request : requests) EXPECT_EQ(request, requests[0]);
}

// Without a length nobody sees that the connection ended too early, but for the JSON in it.
TEST(ChatServer, AnswersThatAreCutOffAreAskedForAgain) {
  FakeChatServer server([](int number, const json&, httplib::Response& response) {
    if (number < 2)
      response.set_content(number == 0 ? "{\"choices\":[{\"mess" : "", "application/json");
    else
      say(response, "at last");
  });
  EXPECT_EQ(ChatServer(options_for(server)).ask(json::object(), never).text, "at last");
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(ChatServer, GivesUpInTheEnd) {
  FakeChatServer server(
      [](int, const json&, httplib::Response& response) { fail_with(response, 500, "no memory"); });
  ChatServerOptions options = options_for(server);
  options.attempts = 3;
  const std::string message =
      refusal([&] { ChatServer(options).ask(json::object(), never); }, ErrorCode::kResource);
  EXPECT_NE(message.find("500: no memory, 3 times in a row"), std::string::npos) << message;
  EXPECT_NE(message.find("what is finished is kept"), std::string::npos) << message;
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(ChatServer, ARefusalIsFinal) {
  FakeChatServer server([](int, const json& request, httplib::Response& response) {
    fail_with(response, request["status"], "not this");
  });
  const auto said = [&](int status) {
    return refusal([&] { ChatServer(options_for(server)).ask({{"status", status}}, never); }, ErrorCode::kResource);
  };
  for (const int status : {400, 401, 404, 413, 422}) {
    EXPECT_NE(said(status).find(std::to_string(status) + ": not this"), std::string::npos) << status;
  }
  EXPECT_EQ(server.requests().size(), 5u);
}

// Of this request, or of all.
TEST(ChatServer, RefusalsThatConcernOneRequestAreToldApart) {
  FakeChatServer server([](int, const json& request, httplib::Response& response) {
    const int status = request["status"];
    status == 200 ? response.set_content("{}", "application/json") : fail_with(response, status, "no");
  });
  const auto ask = [&](int status) { ChatServer(options_for(server)).ask({{"status", status}}, never); };
  for (const int status : {400, 413, 422, 200}) EXPECT_THROW(ask(status), RefusedRequest) << status;
  for (const int status : {401, 403, 404}) {
    try {
      ask(status);
      ADD_FAILURE() << status;
    } catch (const RefusedRequest&) {
      ADD_FAILURE() << status << " counts as a refusal of one request";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("what is finished is kept"), std::string::npos) << e.what();
    }
  }
}

// Each piece comes within the timeout, the whole does not.
TEST(ChatServer, TheTimeoutIsForSilence) {
  FakeChatServer server([](int, const json&, httplib::Response& response) {
    httplib::Response whole;
    say(whole, "slowly");
    const std::string text = whole.body;
    response.set_content_provider(
        text.size(), "application/json", [text](size_t offset, size_t, httplib::DataSink& sink) {
          std::this_thread::sleep_for(std::chrono::milliseconds(250));
          return sink.write(text.data() + offset, std::min(text.size() - offset, text.size() / 6 + 1));
        });
  });
  ChatServerOptions options = options_for(server);
  options.timeout_s = 1;
  EXPECT_EQ(ChatServer(options).ask(json::object(), never).text, "slowly");
}

TEST(ChatServer, SilenceEndsARequest) {
  std::atomic<bool> release = false;
  FakeChatServer server([&](int, const json&, httplib::Response& response) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    say(response, "too late");
  });
  ChatServerOptions options = options_for(server);
  options.timeout_s = 1;
  options.attempts = 1;
  EXPECT_NE(refusal([&] { ChatServer(options).ask(json::object(), never); }, ErrorCode::kResource)
                .find("the connection failed"),
            std::string::npos);
  release = true;
}

TEST(ChatServer, IsLookedForBeforeAnythingBegins) {
  FakeChatServer server([](int, const json&, httplib::Response&) {});
  ChatServerOptions options = options_for(server);
  options.key = "secret";
  ChatServer(options).check();
  EXPECT_EQ(server.authorization(), "Bearer secret");
  server.models_status = 404;  // without a list of models
  ChatServer(options).check();
  server.models_status = 401;
  EXPECT_NE(refusal([&] { ChatServer(options).check(); }, ErrorCode::kResource).find("401"),
            std::string::npos);
  options.url = "http://127.0.0.1:1";
  EXPECT_NE(refusal([&] { ChatServer(options).check(); }, ErrorCode::kResource).find("connection failed"),
            std::string::npos);
}

TEST(ChatServer, StopsWhileItWaits) {
  FakeChatServer server(
      [](int, const json&, httplib::Response& response) { fail_with(response, 503, "loading"); });
  ChatServerOptions options = options_for(server);
  options.first_wait = std::chrono::hours(1);
  refusal([&] { ChatServer(options).ask(json::object(), [&] { return !server.requests().empty(); }); },
          ErrorCode::kResource);
  EXPECT_EQ(server.requests().size(), 1u);
}

}  // namespace
}  // namespace vase::eval
