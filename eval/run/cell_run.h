// One policy at one budget: an engine whose sequences take the items in as they become free.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eval/run/config.h"
#include "eval/run/plan.h"
#include "eval/run/record.h"
#include "vase/engine.h"

namespace vase::eval {

// How a run and those who look on talk to each other. All are called on the thread that called run().
struct RunCallbacks {
  // A generation is complete; its grade is not set yet.
  std::function<void(const Planned&, Result, Generation)> on_finished;
  // There is no text of this item: the server does not take it, or the model gives no numbers. why: in words.
  std::function<void(const Planned&, const std::string& why)> on_refused;
  // Where given: a server failed and is asked again. why: in words.
  std::function<void(const std::string& why)> on_retry = {};
  // Several times a second: how many generations are in progress, and the tokens that have been generated so
  // far.
  std::function<void(int running, int64_t tokens)> on_tick;
  // Whether to stop; what is in progress is lost then.
  std::function<bool()> stop;
};

// The prompts of all problems of a plan, in its order, whatever the shard.
class Prompts {
 public:
  // Throws Error that names the problem.
  Prompts(const Model& model, const RunPlan& plan, const GenerationOptions& options);
  const std::vector<int32_t>& of(const Problem& problem) const { return prompts_.at(&problem).tokens; }
  // Whether it ends in a <think>.
  bool open_thinking(const Problem& problem) const { return prompts_.at(&problem).thinking; }
  int longest() const { return longest_; }  // tokens

 private:
  struct Prompt {
    std::vector<int32_t> tokens;
    bool thinking;
  };
  std::map<const Problem*, Prompt> prompts_;
  int longest_ = 0;
};

// The cache that a cell takes: what depends on its policy and on the longest prompt is set. A policy that
// never evicts has room for the longest prompt and max_tokens, or for the context if that is less.
CacheOptions cell_cache(const Cell& cell, const GenerationOptions& options, int longest_prompt);

// Sets M and the types of every cell that has megabytes, for the longest text that its plan can make. Throws
// Error(kUsage) for too few megabytes, and when they buy one policy the same budget twice.
void buy_budgets(RunPlan& plan, const GenerationOptions& options, const ModelShape& shape, int longest_prompt);

class CellRun {
 public:
  // Throws Error as Engine does. Everything must outlive the object.
  CellRun(std::shared_ptr<const Model> model, const Cell& cell, const GenerationOptions& options,
          const Prompts& prompts);

  // Generates the items, EngineOptions::sequences at a time. False when it was stopped. Throws what the callbacks
  // throw.
  bool run(std::span<const Planned> items, const RunCallbacks& callbacks);

  const MemoryPlan& memory() const { return engine_.memory(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Active {
    const Planned* planned;
    std::shared_ptr<Session> session;
    std::string text;
    double start;  // seconds since 1970
    Clock::time_point begun;
  };

  void begin(const Planned& planned);
  void finish_ended(const RunCallbacks& callbacks);
  Result result_of(const Active& active) const;
  uint64_t kv_bytes(const Session& session) const;
  int64_t tokens() const;

  const GenerationOptions& options_;
  const Prompts& prompts_;
  CacheOptions cache_;
  Engine engine_;
  std::vector<Active> active_;
  int64_t finished_tokens_ = 0;
};

}  // namespace vase::eval
