#include "eval/tasks/task.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "eval/tasks/procedures.h"
#include "eval/tasks/readers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr const char* kBoxed = "\nPlease reason step by step, and put your final answer within \\boxed{}.";
constexpr const char* kBoxedShort = " Put your final answer within \\boxed{}.";
constexpr const char* kBoxedLetter =
    "\nPlease reason step by step, and put the letter of your answer within \\boxed{}.";
constexpr const char* kAnyFormat = ".jsonl, .json, .csv";

// A task that reads a file: its line in the list, and what makes a problem of a record, or skips it.
struct FileTask {
  std::string_view name;
  const char* summary;
  const char* instruction;
  AnswerKind kind;
  std::optional<Problem> (*read)(const Record&);
};

template <Problem (*reader)(const Record&)>
std::optional<Problem> every(const Record& record) {
  return reader(record);
}

constexpr FileTask kFileTasks[] = {
    {"gsm8k", "school arithmetic: GSM8K (test.jsonl of openai/gsm8k)", kBoxedShort, AnswerKind::kMath,
     every<read_gsm8k>},
    {"math-500", "competition mathematics: MATH-500 (test.jsonl of HuggingFaceH4/MATH-500)", kBoxed, AnswerKind::kMath,
     every<read_competition>},
    {"aime24", "AIME 2024, e.g. of math-ai/aime24 or HuggingFaceH4/aime_2024", kBoxed, AnswerKind::kMath,
     every<read_competition>},
    {"aime25", "AIME 2025, e.g. test.jsonl of math-ai/aime25", kBoxed, AnswerKind::kMath, every<read_competition>},
    {"aime26", "AIME 2026, e.g. of math-ai/aime26", kBoxed, AnswerKind::kMath, every<read_competition>},
    {"hmmt", "HMMT, e.g. of MathArena/hmmt_feb_2025", kBoxed, AnswerKind::kMath, every<read_competition>},
    {"gpqa-diamond", "science with four choices: GPQA (gpqa_diamond.csv of Idavidrein/gpqa)", kBoxedLetter,
     AnswerKind::kChoice, every<read_gpqa>},
    {"livecodebench", "programs: LiveCodeBench (test*.jsonl of livecodebench/code_generation_lite)", "",
     AnswerKind::kCode, every<read_live_code_bench>},
    {"livecodebench-medium", "the problems of LiveCodeBench whose difficulty is medium", "", AnswerKind::kCode,
     read_live_code_bench_medium},
    {"jsonl", "any problems: id, problem, answer", kBoxed, AnswerKind::kMath, every<read_plain>},
};

[[noreturn]] void fail_unknown_task(const std::string& name) {
  std::string names;
  for (const TaskInfo& task : known_tasks()) names += (names.empty() ? "" : ", ") + task.name;
  throw Error(ErrorCode::kUsage, "unknown task '" + name + "'; there are: " + names);
}

const FileTask& find_file_task(const std::string& name) {
  const auto* const task = std::ranges::find(kFileTasks, name, &FileTask::name);
  if (task != std::end(kFileTasks)) return *task;
  if (is_procedural(name)) {
    throw Error(ErrorCode::kUsage,
                "the task " + name + " makes its problems and reads no file; leave out what stands behind it");
  }
  fail_unknown_task(name);
}

}  // namespace

std::vector<TaskInfo> known_tasks() {
  std::vector<TaskInfo> tasks;
  for (const FileTask& t : kFileTasks) {
    tasks.push_back({std::string(t.name), t.summary, kAnyFormat, t.instruction, t.kind, false});
  }
  for (const Procedure* p : procedures()) {
    tasks.push_back({p->name, p->summary, settings_text(*p), kProcedureInstruction, AnswerKind::kMath, true});
  }
  return tasks;
}

Task read_task(const std::string& name, const std::string& path, int most) {
  const FileTask& reader = find_file_task(name);
  Task task = {name, reader.instruction, reader.kind, {}};
  std::unordered_set<std::string> ids;
  read_records(path, [&](const Record& record) {
    if (most > 0 && task.problems.size() == static_cast<size_t>(most)) return;
    std::optional<Problem> problem = reader.read(record);
    if (!problem) return;
    if (problem->id.empty()) problem->id = name + "-" + std::to_string(record.number);
    if (!ids.insert(problem->id).second) {
      fail_record(record, "the id \"" + problem->id + "\" stood in an earlier record; every problem needs its own");
    }
    problem->where = record.where;
    task.problems.push_back(std::move(*problem));
  });
  if (task.problems.empty()) throw Error(ErrorCode::kCorrupt, path + ": holds no problems of the task " + name);
  return task;
}

bool is_procedural(std::string_view spec) { return find_procedure(spec.substr(0, spec.find(':'))) != nullptr; }

Task make_task(const std::string& spec, int count, uint64_t seed) {
  const std::string name = spec.substr(0, spec.find(':'));
  const Procedure* procedure = find_procedure(name);
  if (!procedure) fail_unknown_task(name);
  if (count < 1)
    throw Error(ErrorCode::kUsage, std::to_string(count) + " problems of " + name + "; allowed: 1 or more");
  const Settings settings = parse_settings(*procedure, spec);
  Task task = {canonical_spec(*procedure, settings), kProcedureInstruction, AnswerKind::kMath, {}};
  for (int i = 0; i < count; ++i) {
    task.problems.push_back(make_problem(*procedure, settings, seed, i));
  }
  return task;
}

Task open_task(const std::string& text, int count, uint64_t seed, int most) {
  if (is_procedural(text)) return make_task(text, count, seed);
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const FileTask& task = find_file_task(name);
  if (equals == std::string::npos || equals + 1 == text.size()) {
    throw Error(ErrorCode::kUsage, "the task " + name + " reads a file; write " + name + "=FILE");
  }
  return read_task(std::string(task.name), text.substr(equals + 1), most);
}

}  // namespace vase::eval
