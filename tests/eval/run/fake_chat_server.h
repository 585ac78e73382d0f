// A server of the chat protocol in this process, which does what a test tells it.
#pragma once

#include <httplib.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace vase::eval {

class FakeChatServer {
 public:
  // Called for every request with its number from 0, on any of several threads.
  using Answer = std::function<void(int number, const nlohmann::json& request, httplib::Response& response)>;

  explicit FakeChatServer(Answer answer) : answer_(std::move(answer)) {
    server_.Get("/v1/models", [this](const httplib::Request& request, httplib::Response& response) {
      authorization_ = request.get_header_value("Authorization");
      response.set_content("{}", "application/json");
      response.status = models_status;
    });
    server_.Post("/v1/chat/completions",
                 [this](const httplib::Request& request, httplib::Response& response) {
                   const nlohmann::json body = nlohmann::json::parse(request.body);
                   int number = 0;
                   {
                     const std::lock_guard lock(mutex_);
                     number = static_cast<int>(requests_.size());
                     requests_.push_back(body);
                   }
                   answer_(number, body, response);
                 });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    server_.wait_until_ready();
  }
  ~FakeChatServer() {
    server_.stop();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string authorization() const { return authorization_; }
  std::vector<nlohmann::json> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  std::atomic<int> models_status{200};

 private:
  Answer answer_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<nlohmann::json> requests_;
  std::string authorization_;
};

// A whole answer with this text.
inline void say(httplib::Response& response, const std::string& text, const std::string& finish = "stop") {
  const nlohmann::json answer = {
      {"choices", nlohmann::json::array({{{"message", {{"role", "assistant"}, {"content", text}}},
                                          {"finish_reason", finish}}})},
      {"usage", {{"prompt_tokens", 12}, {"completion_tokens", 34}}}};
  response.set_content(answer.dump(), "application/json");
}

inline void fail_with(httplib::Response& response, int status, const std::string& message) {
  response.status = status;
  response.set_content(nlohmann::json{{"error", {{"message", message}}}}.dump(), "application/json");
}

// The connection ends in the middle of the answer.
inline void drop(httplib::Response& response) {
  response.set_content_provider(1000, "application/json", [](size_t, size_t, httplib::DataSink& sink) {
    sink.write("{\"cho", 5);
    return false;
  });
}

}  // namespace vase::eval
