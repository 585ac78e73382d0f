// From one record of a data set to a problem. Each throws Error(kCorrupt) that names the record.
#pragma once

#include <optional>

#include "eval/tasks/records.h"
#include "eval/tasks/task.h"

namespace vase::eval {

// {id, problem, answer}, all of them needed.
Problem read_plain(const Record& record);

// GSM8K: {question, answer}, where the answer is worked out and ends in "#### N"; or {id, problem, answer}.
Problem read_gsm8k(const Record& record);

// Competition problems as the data sets on the Hub have them: the problem under problem, Problem or question; the
// answer under answer or Answer, or as the \boxed{} of solution; the id, where there is one, under unique_id, id, ID or
// problem_idx.
Problem read_competition(const Record& record);

// GPQA: Question, Correct Answer, Incorrect Answer 1 to 3, Record ID. The four answers are put in an order that the
// record's id decides, and the answer is the letter of the right one. Or {id, problem, answer} with a letter.
Problem read_gpqa(const Record& record);

// LiveCodeBench (code_generation_lite): question_id, question_content, starter_code, public_test_cases,
// private_test_cases, metadata. All tests are unpacked once, to see that they can be, and kept as they are in the file.
Problem read_live_code_bench(const Record& record);
// The same of the problems whose difficulty is "medium"; none of the others.
std::optional<Problem> read_live_code_bench_medium(const Record& record);

}  // namespace vase::eval
