// `vase eval`: what eviction costs in quality.
#include "commands.h"
#include "flags.h"

namespace vase::cli {

int eval_command(const Arguments& arguments) {
  return run_subcommand("eval",
                        {{"kl", "divergence from the full cache, over given texts", eval_kl_command},
                         {"run", "accuracy: answers to problems, graded", eval_run_command},
                         {"show", "the table of results that are there", eval_show_command},
                         {"merge", "join the results of shards", eval_merge_command},
                         {"grade", "compare answers with expected ones", eval_grade_command},
                         {"tasks", "list tasks, or print the problems of one", eval_tasks_command}},
                        arguments);
}

}  // namespace vase::cli
