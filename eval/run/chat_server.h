// One request to a server that speaks OpenAI's chat protocol, with patience for connections that drop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "eval/run/config.h"
#include "vase/error.h"

namespace vase::eval {

struct ChatServerOptions {
  std::string url;    // "http://host:8000" or "http://host:8000/v1"; TLS is not built in
  std::string model;  // the name that the server knows
  std::string key;    // sent as a bearer token; empty = none
  int timeout_s = 3600;  // longest silence of the server; it says nothing until a whole text is there
  int attempts = 8;      // of a request that the network or a busy server has ended
  std::chrono::milliseconds first_wait{500};  // before the second attempt; doubles each time, up to half a minute
  // Where given: told in words why an attempt failed after which there is another one, on the thread that asks.
  std::function<void(const std::string& why)> on_retry = {};
};

// What the server says to this one request, and would say again: that it is too long, for instance. Others may succeed.
class RefusedRequest : public Error {
 public:
  using Error::Error;
};

struct ChatReply {
  std::string text;  // thinking that the server sends apart stands in <think> and </think> before the answer
  std::string finish;  // "eos" and "length" as an engine says it; anything else as the server says it
  int prompt_tokens = 0, generated_tokens = 0;  // 0: the server does not say
};

// The body of a request for one text. options: sampling without a repetition penalty, stops, max_tokens,
// system.
nlohmann::json chat_request(const std::string& model, const GenerationOptions& options,
                            const std::string& user, uint64_t seed);
// Throws RefusedRequest(kCorrupt) when it is none.
ChatReply read_reply(const std::string& body);

class ChatServer {
 public:
  // Throws Error(kUsage) for an address that cannot be one.
  explicit ChatServer(const ChatServerOptions& options);
  ~ChatServer();

  // Throws Error(kResource) when nobody answers there, or not with this key. Asks once.
  void check();
  // stop: asked while it waits between two attempts; it gives up then, as it does after cancel(). Throws
  //  RefusedRequest    the server does not take this request, or its answer is JSON that is not of the protocol
  //  Error(kResource)  any other end, with what the server or the network said: it concerns every request
  ChatReply ask(const nlohmann::json& request, const std::function<bool()>& stop);
  // From any thread: ends the request that is under way.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::eval
