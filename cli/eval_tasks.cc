// `vase eval tasks`: what models can be asked, and the problems of one task.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "eval/tasks/task.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "paragraph.h"

namespace vase::cli {
namespace {

using eval::AnswerKind;
using eval::Problem;
using eval::Task;
using eval::TaskInfo;
using nlohmann::json;

constexpr int kColumn = 25, kDefaultCount = 10, kMostProblems = 1 << 20;

const char* kind_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kMath:
      return "math";
    case AnswerKind::kChoice:
      return "choice";
    case AnswerKind::kCode:
      return "code";
  }
  return "";
}

std::string listed() {
  std::string files, made;
  for (const TaskInfo& t : eval::known_tasks()) {
    if (t.procedural)
      made += paragraph(2, t.name, kColumn, t.summary + ". Settings: " + t.formats);
    else
      files += paragraph(2, t.name, kColumn, t.summary);
  }
  return "Tasks that read a file (.jsonl, .json, .csv), as NAME=FILE:\n" + files +
         "\nTasks that make their problems, as NAME or NAME:setting=value,...:\n" + made +
         "\n`vase eval tasks TASK` prints problems as JSON lines. Fields: docs/eval.md.\n";
}

json listed_json() {
  json tasks = json::array();
  for (const TaskInfo& t : eval::known_tasks()) {
    tasks.push_back({{"name", t.name},
                     {"summary", t.summary},
                     {t.procedural ? "settings" : "formats", t.formats},
                     {"instruction", t.instruction},
                     {"kind", kind_name(t.kind)},
                     {"procedural", t.procedural}});
  }
  return tasks;
}

// Of a problem with a worked text this is a record for `vase eval kl --text`, too.
json problem_json(const Task& task, const Problem& problem) {
  json object = {{"id", problem.id}, {"problem", problem.problem}, {"prompt", problem.problem + task.instruction}};
  if (!problem.answer.empty()) object["answer"] = problem.answer;
  if (!problem.worked.empty()) object["text"] = problem.worked;
  return object;
}

}  // namespace

int eval_tasks_command(const Arguments& arguments) {
  std::string name;
  int count = 0;
  uint64_t seed = 0;
  bool as_json = false;
  CLI::App app("Lists tasks, or prints the problems of one as JSON lines.", "eval tasks");
  app.add_option("task", name, "NAME=FILE, or NAME:setting=value,... of a task that makes its problems")->type_name("");
  add_integer(app, "--count", count, 1, kMostProblems,
              "at most that many problems; absent: all of a file, 10 of a task that makes them");
  add_seed(app, "--seed", seed, "of the problems that are made (0)");
  app.add_flag("--json", as_json, "print the list of tasks as JSON");
  if (!parse(app, arguments)) return kExitOk;
  if (name.empty()) {
    as_json ? print_json(listed_json(), 2) : write_output(listed());
    return kExitOk;
  }
  const Task task = eval::open_task(name, count > 0 ? count : kDefaultCount, seed);
  const size_t most = count > 0 ? static_cast<size_t>(count) : task.problems.size();
  for (size_t i = 0; i < std::min(most, task.problems.size()); ++i) print_json(problem_json(task, task.problems[i]));
  return kExitOk;
}

}  // namespace vase::cli
