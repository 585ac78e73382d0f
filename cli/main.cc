// The `vase` program: finds the command and maps errors to exit codes.
#include <malloc.h>

#include <cstdio>
#include <new>

#include "commands.h"
#include "eval/printable.h"
#include "flags.h"
#include "output.h"
#include "startup.h"
#include "vase/error.h"
#include "vase/simd.h"

namespace vase::cli {
namespace {

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Arguments&);
};

constexpr Command kCommands[] = {
    {"run", "answer one prompt", run_command},
    {"info", "show a model's shape and what each budget costs", info_command},
    {"bench", "time prompts and generation, beside libllama", bench_command},
    {"eval", "measure what eviction costs in quality", eval_command},
    {"tune", "find the best cache in given megabytes, or the smallest budget that will do", tune_command},
    {"report", "results of eval as one page, with figures", report_command},
    {"analyze", "what heads hold after their evictions", analyze_command},
    {"select", "apply a policy to keys, values and queries from a file", select_command},
    {"policies", "list presets and parts of policies, explain one", policies_command},
    {"capture", "write a model's keys, values and queries for a text to NumPy arrays", capture_command},
    {"calibrate", "measure what a policy needs to know of a model", calibrate_command},
};

std::string usage() {
  std::string text = "usage: vase <command> [flags]\n\n";
  for (const Command& c : kCommands) text += formatted("  %-9s %s\n", c.name, c.summary);
  return text + "\n`vase <command> --help` lists the flags. `vase --version` prints the version.\n";
}

int dispatch(const Arguments& all) {
  if (all.empty()) {
    std::fputs(usage().c_str(), stderr);
    return kExitUsage;
  }
  const std::string& name = all[0];
  if (name == "--help" || name == "-h" || name == "help") {
    write_output(usage());
    return kExitOk;
  }
  if (name == "--version") {
    write_output(formatted("vase %s\n", build_id()));
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const Command& c : kCommands) {
    if (name == c.name) return c.run(Arguments(all.begin() + 1, all.end()));
    names.push_back(c.name);
  }
  fail_unknown("command", name, names);
}

// Messages repeat what users and files say: one printable line, whatever that is.
int report(const std::string& message, int code) {
  std::fprintf(stderr, "vase: %s\n", eval::printable(message).c_str());
  return code;
}

}  // namespace
}  // namespace vase::cli

int main(int argc, char** argv) {
  using namespace vase::cli;
  prepare_process();
  // ggml takes and frees an aligned block per step; glibc before 2.38 cuts each from fresh pages of the free
  // heap unless freed neighbours are joined at once. Resident memory stays flat with it.
  mallopt(M_MXFAST, 0);
  try {
    vase::check_simd_request();
    return dispatch(Arguments(argv + 1, argv + argc));
  } catch (const ReaderGone&) {
    return kExitFailure;
  } catch (const vase::Error& e) {
    return report(e.what(), e.code() == vase::ErrorCode::kUsage ? kExitUsage : kExitFailure);
  } catch (const std::bad_alloc&) {
    return report("out of memory; use a smaller budget or model", kExitFailure);
  } catch (const std::exception& e) {
    return report(e.what(), kExitFailure);
  }
}
