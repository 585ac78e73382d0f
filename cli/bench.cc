// `vase bench`: speed of prompt processing and generation at a depth, ours and libllama's in turn.
#include <memory>

#include "bench_options.h"
#include "bench_output.h"
#include "bench_row.h"
#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "run_and_report.h"
#include "vase/model.h"

namespace vase::cli {

int bench_command(const Arguments& arguments) {
  std::optional<BenchCommand> command = BenchCommand::parse(arguments);
  if (!command) return kExitOk;
  BenchOutput output(command->format, command->out);
  bench::BenchOptions& options = command->bench;
  options.model_path = command->model_path();
  if (command->preset.given()) command->preset.check(read_model_shape(options.model_path));
  const BenchRecord record(options);
  std::unique_ptr<Progress> progress;
  options.stop = interrupted;
  options.on_piece = [&](const std::string& what) { progress->next(what); };
  options.on_row = [&](const bench::Row& row) {
    progress->hide();
    output.add(record.row(row));
  };
  bench::Bench bench(options);
  progress = std::make_unique<Progress>(bench.pieces());
  defer_interrupts();  // from here on there is something to report
  const auto close = [&](bool complete) {
    progress->hide();
    output.close(!complete);
  };
  return run_and_report([&] { return bench.run(); }, close) ? kExitOk : kExitInterrupted;
}

}  // namespace vase::cli
