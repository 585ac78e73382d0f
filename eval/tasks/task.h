// What models are asked: problems out of data files in their own public formats, and problems that are made up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eval/grading/answer.h"

namespace vase::eval {

struct Problem {
  std::string id;       // differs within a task
  std::string problem;  // what the user asks, without the task's instruction
  std::string answer;   // expected, in the notation of the data; empty for kCode
  std::string tests;    // kCode: what parse_code_tests (eval/sandbox/code_tests.h) reads; empty otherwise
  std::string worked;   // a whole right completion where the task can tell one (procedural tasks); empty otherwise
  std::string where = {};  // "data.jsonl:12", for messages; empty for a procedural task
};

struct Task {
  std::string
      name;  // "gsm8k", "jsonl", ...; a procedural task with all its settings: "chain:steps=40,back=20,digits=2"
  std::string instruction;  // appended to the problem as it stands, white space included
  AnswerKind kind;
  std::vector<Problem> problems;
};

struct TaskInfo {
  std::string name;
  std::string summary;      // one line
  std::string formats;      // extensions of the files that it reads; of a procedural task the settings and their ranges
  std::string instruction;  // default
  AnswerKind kind;
  bool procedural;
};

// All tasks: those that read a file, then the procedural ones.
std::vector<TaskInfo> known_tasks();

// Reads a data file: .jsonl (one object per line), .json (a list of objects, or one object per line) or .csv (with a
// row of names). `task`: one of known_tasks that reads a file. docs/eval.md lists the fields that each task looks for.
// most: problems behind the first so many are not made of their records, and so not checked; 0: all are.
// Throws Error: kNotFound; kUsage for an unknown task or kind of file; kUnsupported for Parquet; kCorrupt, with file
// and line, for a record that is malformed or has the id of another one, and for a file without problems.
Task read_task(const std::string& task, const std::string& path, int most = 0);

// Whether `spec` ("chain", "chain:steps=40,digits=2") names a procedural task.
bool is_procedural(std::string_view spec);

// `count` problems. Problem i depends on the spec, the seed and i alone: a larger count has the same problems and more.
// Throws Error(kUsage): the task, its settings or their ranges, or count < 1.
Task make_task(const std::string& spec, int count, uint64_t seed);

// What a command line names: "NAME=FILE" is read, up to `most` problems, a procedural spec is made. Throws Error as
// those two do.
Task open_task(const std::string& text, int count, uint64_t seed, int most = 0);

}  // namespace vase::eval
