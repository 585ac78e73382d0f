// peer_answers MODEL.gguf REFERENCE OUT: has libllama answer what the texts of REFERENCE answer, a folder of
// `vase eval run
// --greedy --policy full`, from the same prompt tokens. OUT becomes a folder of the same kind, graded by the
// same grader; an interrupted run goes on where it stopped.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/machine.h"
#include "eval/require_regular.h"
#include "eval/run/grade.h"
#include "eval/run/results_file.h"
#include "eval/run/results_folder.h"
#include "eval/run/timing.h"
#include "greedy_llama.h"
#include "vase/error.h"

namespace vase::bench {
namespace {

using nlohmann::json;

constexpr const char* kPeer = "libllama";

// A text of the reference: what was asked, and the line without what was answered.
struct Asked {
  eval::Result result;
  std::string prompt;
  std::vector<int32_t> prompt_ids;
};

std::vector<Asked> read_reference(const std::string& folder) {
  std::vector<Asked> asked;
  eval::require_regular(folder + "/" + eval::kResultsName);
  eval::read_results(folder + "/" + eval::kResultsName, [&](const eval::ResultsLine& line) {
    eval::Result result = eval::read_result(line.json, line.where);
    if (result.item.policy != "full") return;
    if (!line.json.contains("prompt_ids"))
      throw Error(ErrorCode::kCorrupt,
                  line.where + ": there are no prompt_ids, which a run of this program leaves");
    asked.push_back({std::move(result), line.json.at("prompt").get<std::string>(),
                     line.json.at("prompt_ids").get<std::vector<int32_t>>()});
  });
  if (asked.empty()) throw Error(ErrorCode::kUsage, folder + " holds no texts of the full cache");
  return asked;
}

// That of the reference, with the peer in place of its cells and cache.
json config_for(const json& reference, size_t items) {
  json config = reference["config"];
  if (config["sampling"]["temperature"] != 0)
    throw Error(ErrorCode::kUsage,
                "the reference was not greedy; only the most probable tokens can be compared");
  config["cells"] = json::array({{{"policy", kPeer}, {"parts", ""}, {"budget", 0}}});
  config["server"] = kPeer;
  config.erase("cache");
  config.erase("path");
  return {{"hash", eval::config_hash(config)},
          {"config", config},
          {"items", items},
          {"command", json::array()}};
}

eval::Planned planned_for(const Asked& asked, const eval::Task& task, const eval::Problem& problem) {
  eval::Item item = asked.result.item;
  item.policy = kPeer;
  return {.item = item, .task = &task, .problem = &problem};
}

void answer(GreedyLlama& llama, const Asked& asked, int max_tokens, eval::Grader& grader,
            eval::ResultsFolder& folder) {
  const eval::Task task{
      .name = asked.result.item.task, .instruction = {}, .kind = eval::AnswerKind::kMath, .problems = {}};
  const eval::Problem problem{
      .id = asked.result.item.problem_id, .problem = {}, .answer = asked.result.expected};
  const eval::Planned planned = planned_for(asked, task, problem);
  const double start = eval::unix_time();
  LlamaText text = llama.answer(asked.prompt_ids, max_tokens);
  const double seconds = eval::unix_time() - start;
  const int generated = static_cast<int>(text.tokens.size());
  eval::Result result{.item = planned.item,
                      .expected = problem.answer,
                      .extracted = {},
                      .finish = text.ended ? "eos" : "length",
                      .prompt_tokens = static_cast<int>(asked.prompt_ids.size()),
                      .generated_tokens = generated,
                      .timing = eval::timing_of(start, seconds, generated)};
  const eval::Generation generation{asked.prompt, asked.prompt_ids, std::move(text.text),
                                    std::move(text.tokens)};
  eval::grade(result, generation, planned, grader);
  folder.append(result, generation);
}

void run(const std::string& model, const std::string& reference, const std::string& out) {
  const std::vector<Asked> all = read_reference(reference);
  const json config = config_for(eval::read_config(reference), all.size());
  const int max_tokens = config["config"]["max_tokens"].get<int>();
  size_t longest = 0;
  for (const Asked& asked : all) longest = std::max(longest, asked.prompt_ids.size());
  eval::ResultsFolder folder(out, config);
  GreedyLlama llama(model, static_cast<int>(longest) + max_tokens, physical_cores());
  eval::Grader grader({});
  for (size_t i = 0; i < all.size(); ++i) {
    eval::Item item = all[i].result.item;
    item.policy = kPeer;
    if (folder.has(item)) continue;
    answer(llama, all[i], max_tokens, grader, folder);
    std::fprintf(stderr, "%zu of %zu\n", i + 1, all.size());
  }
}

}  // namespace
}  // namespace vase::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: peer_answers MODEL.gguf REFERENCE OUT\n");
    return 2;
  }
  try {
    vase::bench::run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
