// The flags of `vase eval run`.
#pragma once

#include <optional>
#include <string>

#include "commands.h"
#include "eval/run/chat_server.h"
#include "eval/run/config.h"
#include "eval/run/grade.h"
#include "eval/run/plan.h"
#include "preset_flag.h"

namespace vase::cli {

struct EvalRunOptions {
  std::string model, out;
  eval::RunPlan plan;  // its problems are read
  eval::GenerationOptions generation;
  eval::ChatServerOptions server;  // url is empty: this program generates
  eval::GraderOptions grader;
  PresetFlag preset;
  bool json = false;
  Arguments arguments;  // as given

  // nullopt when help was asked for. Throws Error: kUsage, and what reading the tasks throws.
  static std::optional<EvalRunOptions> parse(const Arguments& arguments);
};

}  // namespace vase::cli
