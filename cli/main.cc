// The `vase` program: finds the command and maps errors to exit codes.
#include <malloc.h>

#include <cstdio>
#include <new>

#include "commands.h"
#include "flags.h"
#include "vase/error.h"

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
    {"bench", "time generation, beside libllama", bench_command},
};

void print_usage(FILE* out) {
  std::fprintf(out, "usage: vase <command> [flags]\n\n");
  for (const Command& c : kCommands) std::fprintf(out, "  %-8s %s\n", c.name, c.summary);
  std::fprintf(out, "\n`vase <command> --help` lists the flags. `vase --version` prints the version.\n");
}

int dispatch(const Arguments& all) {
  if (all.empty()) {
    print_usage(stderr);
    return kExitUsage;
  }
  const std::string& name = all[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return kExitOk;
  }
  if (name == "--version") {
    std::printf("vase %s\n", build_id());
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const Command& c : kCommands) {
    if (name == c.name) return c.run(Arguments(all.begin() + 1, all.end()));
    names.push_back(c.name);
  }
  fail_unknown("command", name, names);
}

int report(const char* message, int code) {
  std::fprintf(stderr, "vase: %s\n", message);
  return code;
}

}  // namespace
}  // namespace vase::cli

int main(int argc, char** argv) {
  using namespace vase::cli;
  // ggml takes and frees an aligned block per step; glibc before 2.38 cuts each from fresh pages of the free heap unless
  // freed neighbours are joined at once. Resident memory stays flat with it.
  mallopt(M_MXFAST, 0);
  try {
    return dispatch(Arguments(argv + 1, argv + argc));
  } catch (const vase::Error& e) {
    return report(e.what(), e.code() == vase::ErrorCode::kUsage ? kExitUsage : kExitFailure);
  } catch (const std::bad_alloc&) {
    return report("out of memory; use a smaller budget or model", kExitFailure);
  } catch (const std::exception& e) {
    return report(e.what(), kExitFailure);
  }
}
