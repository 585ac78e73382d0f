#include "eval/run/chat_server.h"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <thread>

#include "eval/beginning_of.h"
#include "eval/json_text.h"
#include "eval/run/cache_json.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kLongestWait{30000}, kNap{50};
constexpr int kConnectSeconds = 10, kWriteSeconds = 60, kCheckSeconds = 30;
constexpr size_t kExcerpt = 200;  // bytes of an answer that a message shows

// Scheme, host and port apart from what comes before "/chat/completions".
struct Address {
  std::string host, base;
};

Address parse_address(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (url.starts_with("https://")) {
    throw Error(ErrorCode::kUsage,
                "--server " + url + ": TLS is not built in; give an http:// address, of a proxy if need be");
  }
  if (!url.starts_with(kScheme) || url.size() == kScheme.size() ||
      url.find_first_of(" ?#@") != std::string::npos) {
    throw Error(ErrorCode::kUsage,
                "--server is '" + url + "'; allowed: an address such as http://127.0.0.1:8080");
  }
  const size_t slash = std::min(url.find('/', kScheme.size()), url.size());
  std::string base = url.substr(slash);
  while (base.ends_with('/')) base.pop_back();
  if (!base.ends_with("/v1")) base += "/v1";
  return {url.substr(0, slash), base};
}

// Of a busy or restarting server, and of proxies before it. 200: with an answer that was cut off.
bool may_pass(int status) {
  return status == 200 || status == 408 || status == 429 || (status >= 500 && status <= 504);
}

// About the key, the account, the path or the name of the model: it would be the same for every request.
bool concerns_all(int status) { return status >= 401 && status <= 407; }

std::string excerpt(const std::string& body) {
  const json answer = parse_json(body);
  if (answer.is_object() && answer.contains("error")) {
    const json& error = answer["error"];
    if (error.is_object() && error.value("message", json()).is_string()) return error["message"];
    if (error.is_string()) return error;
  }
  return beginning_of(body, kExcerpt);
}

// Seconds that the server asks to wait; dates are not read.
milliseconds asked_wait(const httplib::Result& result) {
  if (!result || !result->has_header("Retry-After")) return milliseconds(0);
  const std::string text = result->get_header_value("Retry-After");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return milliseconds(1000) * std::clamp(seconds, 0, 60);
}

std::string text_of(const json& message, const char* key) {
  const json value = message.value(key, json());
  return value.is_string() ? value.get<std::string>() : "";
}

int count_of(const json& usage, const char* key) {
  const json value = usage.is_object() ? usage.value(key, json()) : json();
  const bool fits = value.is_number_unsigned() && value <= std::numeric_limits<int>::max();
  return fits ? value.get<int>() : 0;
}

}  // namespace

json chat_request(const std::string& model, const GenerationOptions& options, const std::string& user,
                  uint64_t seed) {
  const SamplingOptions& s = options.session.sampling;
  json messages = json::array();
  if (!options.system.empty()) messages.push_back({{"role", "system"}, {"content", options.system}});
  messages.push_back({{"role", "user"}, {"content", user}});
  json request = {{"model", model},
                  {"messages", messages},
                  {"temperature", shortest(s.temperature)},
                  {"top_p", shortest(s.top_p)},
                  {"max_tokens", options.session.max_tokens},
                  {"seed", seed & 0x7FFFFFFF},  // what all servers take
                  {"stream", false}};
  // Servers have defaults of their own for these two. 0 is "off" to all that know them, and OpenAI's own
  // server refuses both.
  if (s.top_k > 0) request["top_k"] = s.top_k;
  if (s.min_p > 0) request["min_p"] = shortest(s.min_p);
  if (!options.session.stops.empty()) request["stop"] = options.session.stops;
  return request;
}

ChatReply read_reply(const std::string& body) {
  const json answer = parse_json(body);
  const json choices = answer.is_object() ? answer.value("choices", json()) : json();
  const json choice = choices.is_array() && !choices.empty() ? choices[0] : json();
  const json message = choice.is_object() ? choice.value("message", json()) : json();
  if (!message.is_object()) {
    throw RefusedRequest(ErrorCode::kCorrupt,
                         "the server's answer has no choices[0].message: " + beginning_of(body, kExcerpt));
  }
  ChatReply reply;
  std::string thinking = text_of(message, "reasoning_content");
  if (thinking.empty()) thinking = text_of(message, "reasoning");
  reply.text = text_of(message, "content");
  // Without an answer the thinking has not ended.
  if (!thinking.empty())
    reply.text = "<think>\n" + thinking + (reply.text.empty() ? "" : "\n</think>\n\n" + reply.text);
  reply.finish = text_of(choice, "finish_reason");
  if (reply.text.empty() && reply.finish.empty()) {
    throw RefusedRequest(ErrorCode::kCorrupt,
                         "the server's answer has no text and no finish_reason: " + beginning_of(body, kExcerpt));
  }
  if (reply.finish == "stop") reply.finish = "eos";
  const json usage = answer.value("usage", json());
  reply.prompt_tokens = count_of(usage, "prompt_tokens");
  reply.generated_tokens = count_of(usage, "completion_tokens");
  return reply;
}

struct ChatServer::Impl {
  explicit Impl(const ChatServerOptions& o)
      : options(o), address(parse_address(o.url)), client(address.host) {
    if (!client.is_valid())
      throw Error(ErrorCode::kUsage, "--server is '" + o.url + "', which is no address");
    client.set_connection_timeout(kConnectSeconds);
    client.set_read_timeout(o.timeout_s);
    client.set_write_timeout(kWriteSeconds);
    client.set_keep_alive(true);
    if (!o.key.empty()) client.set_bearer_token_auth(o.key);
  }

  // False when the caller wants to stop.
  bool wait(milliseconds time, const std::function<bool()>& stop) const {
    for (; time.count() > 0; time -= kNap) {
      if (stop()) return false;
      std::this_thread::sleep_for(std::min(time, kNap));
    }
    return !stop();
  }

  // A server that says nothing for too long, and one that hangs up, look alike.
  std::string hint(httplib::Error error) const {
    if (error != httplib::Error::Read) return "";
    return "; it may be silent for " + std::to_string(options.timeout_s) + " s, --server-timeout allows more";
  }

  // What went wrong; empty when nothing did.
  std::string problem(const httplib::Result& result) const {
    if (!result) return "the connection failed (" + httplib::to_string(result.error()) + hint(result.error()) + ")";
    if (result->status == 200) {
      return !parse_json(result->body).is_discarded()
                 ? ""
                 : "its answer is cut off or no JSON: " + excerpt(result->body);
    }
    return "it answered " + std::to_string(result->status) + ": " + excerpt(result->body);
  }

  std::string said(const std::string& what) const { return "the server at " + options.url + ": " + what; }
  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::kResource, said(what)); }

  // It would answer the same again.
  [[noreturn]] void refuse(int status, const std::string& problem) const {
    if (!concerns_all(status)) throw RefusedRequest(ErrorCode::kResource, said(problem));
    fail(problem +
         "; what is finished is kept. See to the address, --server-model and --api-key-env, and run it again");
  }

  ChatServerOptions options;
  Address address;
  httplib::Client client;
};

ChatServer::ChatServer(const ChatServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
ChatServer::~ChatServer() = default;

void ChatServer::check() {
  impl_->client.set_read_timeout(kCheckSeconds);
  const httplib::Result result = impl_->client.Get(impl_->address.base + "/models");
  impl_->client.set_read_timeout(impl_->options.timeout_s);
  const int status = result ? result->status : 0;
  // A server need not have a list of models.
  if (!result || status == 401 || status == 403) impl_->fail(impl_->problem(result));
}

ChatReply ChatServer::ask(const json& request, const std::function<bool()>& stop) {
  const std::string body = request.dump(-1, ' ', false, json::error_handler_t::replace);
  milliseconds wait = impl_->options.first_wait;
  for (int attempt = 1;; ++attempt) {
    const httplib::Result result =
        impl_->client.Post(impl_->address.base + "/chat/completions", body, "application/json");
    const std::string problem = impl_->problem(result);
    if (problem.empty()) return read_reply(result->body);
    if (stop()) impl_->fail("stopped");
    if (result && !may_pass(result->status)) impl_->refuse(result->status, problem);
    if (attempt == impl_->options.attempts) {
      impl_->fail(problem + ", " + std::to_string(attempt) +
                  " times in a row; what is finished is kept, run it again to go on");
    }
    if (impl_->options.on_retry) impl_->options.on_retry(impl_->said(problem));
    if (!impl_->wait(std::max(wait, asked_wait(result)), stop)) impl_->fail("stopped");
    wait = std::min(wait * 2, kLongestWait);
  }
}

void ChatServer::cancel() { impl_->client.stop(); }

}  // namespace vase::eval
