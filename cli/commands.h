// The commands of the `vase` program. Each takes the arguments after its own name and returns the exit code;
// errors are thrown as vase::Error and reported by main().
#pragma once

#include <string>
#include <vector>

namespace vase::cli {

constexpr int kExitOk = 0, kExitFailure = 1, kExitUsage = 2, kExitInterrupted = 130;

using Arguments = std::vector<std::string>;

int run_command(const Arguments& arguments);
int info_command(const Arguments& arguments);
int bench_command(const Arguments& arguments);
int capture_command(const Arguments& arguments);
int calibrate_command(const Arguments& arguments);
int eval_command(const Arguments& arguments);
int eval_kl_command(const Arguments& arguments);
int eval_run_command(const Arguments& arguments);
int eval_show_command(const Arguments& arguments);
int eval_merge_command(const Arguments& arguments);
int eval_grade_command(const Arguments& arguments);
int eval_tasks_command(const Arguments& arguments);
int tune_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int analyze_command(const Arguments& arguments);
int analyze_attention_command(const Arguments& arguments);
int analyze_values_command(const Arguments& arguments);
int analyze_quant_command(const Arguments& arguments);
int select_command(const Arguments& arguments);
int policies_command(const Arguments& arguments);

// "0.1.0 (3f2a91c)": version and revision.
const char* build_id();

}  // namespace vase::cli
