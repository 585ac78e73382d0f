// Small plans and results for the tests of eval/run.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "eval/run/plan.h"
#include "eval/run/record.h"
#include "eval/run/results_file.h"
#include "support/tiny_gguf.h"

namespace vase::eval {

inline Source source(const std::string& name, int problems, AnswerKind kind = AnswerKind::kMath) {
  Source s{
      .task = {.name = name, .instruction = " Go.", .kind = kind, .problems = {}}, .reader = {}, .files = {}};
  for (int i = 0; i < problems; ++i) {
    Problem problem;
    problem.id = name + "-" + std::to_string(i);
    problem.problem = "problem " + std::to_string(i);
    problem.answer = std::to_string(i);
    s.task.problems.push_back(problem);
  }
  return s;
}

inline Cell cell(const std::string& policy, int budget) { return {policy, Policy::parse(policy), budget}; }

// A result of problem `id` with the given grade; other fields as a short text that ended has them.
inline Result result(const std::string& policy, int budget, const std::string& id, bool right, int sample = 0,
                     int run = 0) {
  return {
      .item =
          {.task = "t", .problem_id = id, .policy = policy, .budget = budget, .run = run, .sample = sample},
      .expected = "1",
      .extracted = right ? "1" : "2",
      .right = right,
      .finish = "eos",
      .label = "ok",
      .prompt_tokens = 10,
      .generated_tokens = 90,
      .timing = {.process = "x", .start = 100, .seconds = 1, .tokens_per_s = 90}};
}

// A config.json with its hash.
inline nlohmann::json hashed(const nlohmann::json& config, unsigned items) {
  return {{"hash", config_hash(config)}, {"config", config}, {"items", items}, {"command", {"--task", "t"}}};
}

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder of its own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directory(path_); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  const std::string path_ = test::temporary_path(".folder");
};

}  // namespace vase::eval
