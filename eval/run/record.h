// What one generation of `vase eval run` is called, and what came out of it: one line of results.jsonl.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "eval/failure_label.h"
#include "eval/run/timing.h"

namespace vase::eval {

// Key of one generation: all but the two seeds, which follow from it.
struct Item {
  std::string task, problem_id;
  std::string policy;                 // as the user wrote it; "server:NAME" for another program
  int budget = 0;                     // M; 0: everything is kept and read
  int run = 0;                        // which of the eviction seeds, counted from 0
  int sample = 0;                     // which of the texts per problem, counted from 0
  uint64_t seed = 0, evict_seed = 0;  // of this text and its evictions: `vase run` gives it with the same two

  using Key = std::tuple<std::string, std::string, std::string, int, int, int>;
  Key key() const { return {task, problem_id, policy, budget, run, sample}; }
  // "gsm8k-6 of gsm8k, vase-attnv at 128, run 0, sample 2"
  std::string text() const;
};

// What tables are made from.
struct Result {
  Item item;
  std::string expected;                  // answer
  std::optional<std::string> extracted;  // empty: there was none in the text
  bool right = false;
  bool judged = true;  // false: the grader could not tell, and the text counts as wrong
  std::string finish;  // finish_name(): "eos", "stop", "length", "context", "repetition"; of a server also
                       // what else it says
  std::string label;  // label_name(): "ok", "garbage", "loop", "truncated"
  int prompt_tokens = 0, generated_tokens = 0;
  int64_t evicted = 0;  // tokens dropped per layer and KV head
  uint64_t kv_bytes =
      0;  // of keys, values and metadata at the longest moment, of this sequence alone; 0: not known
  Timing timing;

  // Whether the model ended the text itself.
  bool ended() const { return ended_itself(finish); }
};

// The rest of the line: long, and only of use to who reads a single text. A line is also a recorded
// generation that `vase eval kl --text` reads.
struct Generation {
  std::string prompt;               // the user's message
  std::vector<int32_t> prompt_ids;  // as the model saw it; empty for a server
  std::string text;
  std::vector<int32_t> tokens;  // empty for a server
  bool thinking = false;        // the prompt has opened <think>; not known of a server. No part of the line
};

// One line, with its end.
std::string result_line(const Result& result, const Generation& generation);
// Throws Error(kCorrupt): "<where>: ...", also for a number that is not whole, negative or too large.
Result read_result(const nlohmann::json& line, const std::string& where);
// The line without what differs from one time to the next.
nlohmann::json without_timing(nlohmann::json line);

}  // namespace vase::eval
