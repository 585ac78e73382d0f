#include "eval/run/server_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

// A generation, or why there is none.
struct Done {
  const Planned* planned;
  Result result;
  Generation generation;
  std::string refusal = {};  // empty: there is one
};

Done done(const Planned& planned, const ChatReply& reply, double start, double seconds) {
  return {&planned,
          {.item = planned.item,
           .expected = planned.problem->answer,
           .extracted = {},
           .finish = reply.finish,
           .prompt_tokens = reply.prompt_tokens,
           .generated_tokens = reply.generated_tokens,
           .timing = timing_of(start, seconds, reply.generated_tokens)},
          {.prompt = planned.prompt(), .text = reply.text}};
}

// Threads that take items from a list and leave what came of them in another.
class Workers {
 public:
  Workers(const ChatServerOptions& server, const GenerationOptions& options, std::span<const Planned> items)
      : options_(options), model_(server.model), items_(items) {
    const size_t count = std::min(items.size(), static_cast<size_t>(options.engine.sequences));
    left_ = count;
    ChatServerOptions own = server;
    own.on_retry = [this](const std::string& why) { add_retry(why); };
    for (size_t i = 0; i < count; ++i) servers_.push_back(std::make_unique<ChatServer>(own));
    try {
      for (auto& one : servers_) threads_.emplace_back([this, &one] { work(*one); });
    } catch (const std::system_error& e) {
      give_up(e.what());
    }
  }
  ~Workers() { stop(); }

  // Ends all requests and waits for the threads. A request may be begun just after it was told to end, hence
  // again and again.
  void stop() {
    stopping_ = true;
    for (std::unique_lock lock(mutex_); left_ > 0;) {
      lock.unlock();
      for (auto& one : servers_) one->cancel();
      lock.lock();
      changed_.wait_for(lock, kTick);
    }
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  // What is complete, once there is any or a tick has passed.
  std::deque<Done> take() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kTick, [this] { return !done_.empty() || left_ == 0; });
    return std::exchange(done_, {});
  }
  // Why requests were begun again since the last call.
  std::vector<std::string> take_retries() {
    const std::lock_guard lock(mutex_);
    return std::exchange(retries_, {});
  }
  bool over() {
    const std::lock_guard lock(mutex_);
    return left_ == 0 && done_.empty();
  }
  int running() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(left_);
  }
  // After stop().
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Not all of the threads could be started.
  [[noreturn]] void give_up(const std::string& reason) {
    {
      const std::lock_guard lock(mutex_);
      left_ -= servers_.size() - threads_.size();
    }
    stop();
    throw Error(ErrorCode::kResource, "cannot have " + std::to_string(servers_.size()) +
                                          " requests under way (" + reason + "); give fewer --sequences");
  }

  void work(ChatServer& server) {
    try {
      for (size_t i = next_++; i < items_.size() && !stopping_; i = next_++) generate(server, items_[i]);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      // What fails after the first failure, or while all is stopped, only follows from it.
      if (!error_ && !stopping_) error_ = std::current_exception();
      stopping_ = true;
    }
    const std::lock_guard lock(mutex_);
    --left_;
    changed_.notify_all();
  }

  // The server does not know which item it was asked for.
  ChatReply ask(ChatServer& server, const Planned& planned) const {
    try {
      return server.ask(chat_request(model_, options_, planned.prompt(), planned.item.seed),
                        [this] { return stopping_.load(); });
    } catch (const RefusedRequest&) {
      throw;
    } catch (const Error& e) {
      throw Error(e.code(), planned.item.text() + ": " + e.what());
    }
  }

  void generate(ChatServer& server, const Planned& planned) {
    const double start = unix_time();
    try {
      const ChatReply reply = ask(server, planned);
      add(done(planned, reply, start, unix_time() - start));
    } catch (const RefusedRequest& e) {
      add({.planned = &planned, .result = {}, .generation = {}, .refusal = e.what()});
    }
  }

  void add(Done one) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(one));
    changed_.notify_all();
  }

  void add_retry(const std::string& why) {
    const std::lock_guard lock(mutex_);
    retries_.push_back(why);
  }

  const GenerationOptions& options_;
  const std::string model_;
  std::span<const Planned> items_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Done> done_;     // guarded, like the three below
  std::vector<std::string> retries_;
  size_t left_ = 0;           // threads that still work
  std::exception_ptr error_;  // the first
  std::vector<std::unique_ptr<ChatServer>> servers_;
  std::vector<std::thread> threads_;
};

}  // namespace

bool run_on_server(const ChatServerOptions& server, const GenerationOptions& options,
                   std::span<const Planned> items, const RunCallbacks& callbacks) {
  Workers workers(server, options, items);
  int64_t tokens = 0;
  const auto hand_over = [&] {
    for (const std::string& why : workers.take_retries()) {
      if (callbacks.on_retry) callbacks.on_retry(why);
    }
    for (Done& one : workers.take()) {
      if (!one.refusal.empty()) {
        callbacks.on_refused(*one.planned, one.refusal);
        continue;
      }
      tokens += one.result.generated_tokens;
      callbacks.on_finished(*one.planned, std::move(one.result), std::move(one.generation));
    }
  };
  while (!workers.over()) {
    if (callbacks.stop()) {
      workers.stop();
      hand_over();  // what came until then
      return false;
    }
    hand_over();
    callbacks.on_tick(workers.running(), tokens);
  }
  workers.stop();
  workers.rethrow();
  return true;
}

}  // namespace vase::eval
