// `vase eval tasks`: the list, problems as JSON lines, and what is refused.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli_fixture.h"
#include "eval/tasks/task.h"

namespace vase {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

TEST(EvalTasks, ListsEveryTask) {
  const Outcome o = vase("eval tasks");
  ASSERT_EQ(o.code, 0) << o.err;
  const Outcome j = vase("eval tasks --json");
  const json list = json::parse(j.out);
  ASSERT_EQ(list.size(), eval::known_tasks().size());
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i]["name"];
    EXPECT_EQ(name, eval::known_tasks()[i].name);
    EXPECT_NE(o.out.find("\n  " + name + " "), std::string::npos) << name;
  }
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(EvalTasks, PrintsProblemsThatAreMade) {
  const Outcome o = vase("eval tasks halves:steps=6 --count 3 --seed 2");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<json> problems = lines_of(o.out);
  const eval::Task task = eval::make_task("halves:steps=6", 3, 2);
  ASSERT_EQ(problems.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(problems[i]["id"], task.problems[i].id);
    EXPECT_EQ(problems[i]["prompt"], task.problems[i].problem + task.instruction);
    EXPECT_EQ(problems[i]["answer"], task.problems[i].answer);
    EXPECT_EQ(problems[i]["text"], task.problems[i].worked);
  }
}

// What it prints is a file for other commands: a task of its own, and texts with their prompts.
TEST(EvalTasks, PrintsWhatCanBeReadAgain) {
  const std::string path = test::temporary_path(".jsonl");
  ASSERT_EQ(vase("eval tasks chain:steps=4", "", path).code, 0);
  const Outcome again = vase("eval tasks jsonl=" + path + " --count 4");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(lines_of(again.out).size(), 4u);
  const test::TinyModel model{{.embedding = 512}};
  const Outcome kl =
      vase("eval kl --json --texts 1 --threads 1 --kv-budget 90 --model " + model.path() + " --text " + path);
  EXPECT_EQ(kl.code, 0) << kl.err;
  std::remove(path.c_str());
}

TEST_F(Cli, TasksThatCannotBeOpened) {
  expect_usage_error(vase("eval tasks gsm9k"), {"unknown task 'gsm9k'", "gsm8k"});
  expect_usage_error(vase("eval tasks gsm8k"), {"gsm8k=FILE"});
  expect_usage_error(vase("eval tasks chain:steps=1"), {"steps", "3 to 2000"});
  expect_usage_error(vase("eval tasks chain --seed -1"), {"--seed", "'-1'"});
  expect_usage_error(vase("eval tsks"), {"tsks", "tasks"});
  const Outcome missing = vase("eval tasks gsm8k=/no/such.jsonl");
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("/no/such.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace vase
