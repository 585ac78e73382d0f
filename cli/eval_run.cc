// `vase eval run`: accuracy of policies at budgets.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <set>
#include <utility>

#include "eval/printable.h"
#include "eval/run/cell_run.h"
#include "eval/run/grade.h"
#include "eval/run/results_folder.h"
#include "eval/run/server_run.h"
#include "eval_report.h"
#include "eval_run_options.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "require_memory.h"
#include "run_and_report.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

// How it goes in the cell that is running, for the bar.
struct Tally {
  std::string cell;
  int64_t right = 0, texts = 0;
  std::set<std::pair<std::string, std::string>> problems;  // task and id of those with a text
  int running = 0;
  int64_t tokens = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  std::string text() const {
    std::string line = cell + ":";
    if (texts > 0) {
      const double share = static_cast<double>(right) / static_cast<double>(texts);
      // Several texts of one problem are no several problems.
      const auto all = static_cast<int64_t>(problems.size());
      const eval::Interval interval = eval::wilson_interval(std::llround(share * static_cast<double>(all)), all);
      line += formatted(" %lld of %lld right, %.1f %% [%.1f, %.1f],", static_cast<long long>(right),
                        static_cast<long long>(texts), 100 * share, 100 * interval.low, 100 * interval.high);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return line + formatted(" %d in progress, %.1f tokens/s", running,
                            seconds > 0 ? static_cast<double>(tokens) / seconds : 0);
  }
};

class EvalRun {
 public:
  EvalRun(const EvalRunOptions& o, eval::ResultsFolder& folder, eval::Grader& grader)
      : o_(o), folder_(folder), grader_(grader) {
    for (const eval::Cell& cell : o.plan.cells) {
      for (const eval::Planned& planned : eval::items_of(o.plan, cell)) {
        ++total_;
        done_ += folder.has(planned.item);
      }
    }
  }

  size_t total() const { return total_; }  // texts, those that were there before included
  // Item and reason: of texts that no line was written of, and of those whose line has no grade.
  const std::vector<std::string>& left_out() const { return left_out_; }
  const std::vector<std::string>& unjudged() const { return unjudged_; }

  // False when it was interrupted. model and prompts: null with a server.
  bool run(const std::shared_ptr<const Model>& model, const eval::Prompts* prompts) {
    Progress progress(total_, done_);
    for (const eval::Cell& cell : o_.plan.cells) {
      const std::vector<eval::Planned> items = left(cell);
      if (items.empty()) continue;
      const eval::RunCallbacks callbacks = callbacks_for(progress);
      const bool complete = prompts
                                ? eval::CellRun(model, cell, o_.generation, *prompts).run(items, callbacks)
                                : eval::run_on_server(o_.server, o_.generation, items, callbacks);
      if (!complete) return false;
    }
    return true;
  }

 private:
  // The items of a cell that are not finished; begins to count those that are.
  std::vector<eval::Planned> left(const eval::Cell& cell) {
    tally_ = {.cell = cell.name + (cell.budget > 0 ? " at " + std::to_string(cell.budget) : "")};
    for (const eval::Result& result : folder_.results()) {
      if (result.item.policy == cell.name && result.item.budget == cell.budget) count(result);
    }
    std::vector<eval::Planned> items = eval::items_of(o_.plan, cell);
    std::erase_if(items, [this](const eval::Planned& planned) { return folder_.has(planned.item); });
    return items;
  }

  void count(const eval::Result& result) {
    ++tally_.texts;
    tally_.right += result.right;
    tally_.problems.emplace(result.item.task, result.item.problem_id);
  }

  // Whatever becomes of the grader, the text is not lost.
  void keep(const eval::Planned& planned, eval::Result result, const eval::Generation& generation) {
    std::string why;
    std::exception_ptr gone;
    try {
      why = eval::grade(result, generation, planned, grader_);
    } catch (const Error& e) {
      why = e.what();
      gone = std::current_exception();
    }
    if (!why.empty()) unjudged_.push_back(planned.item.text() + ": " + why);
    folder_.append(result, generation);
    count(result);
    ++done_;
    if (gone) std::rethrow_exception(gone);
  }

  eval::RunCallbacks callbacks_for(Progress& progress) {
    return {
        .on_finished =
            [this](const eval::Planned& planned, eval::Result result, const eval::Generation& generation) {
              keep(planned, std::move(result), generation);
            },
        .on_refused =
            [this](const eval::Planned& planned, const std::string& why) {
              left_out_.push_back(planned.item.text() + ": " + why);
            },
        .on_retry = [this, &progress](const std::string& why) { tell_of_retry(why, progress); },
        .on_tick =
            [this, &progress](int running, int64_t tokens) {
              tally_.running = running;
              tally_.tokens = tokens;
              progress.show(done_, tally_.text());
            },
        .stop = [] { return interrupted(); }};
  }

  // The first alone: a server that is down fails each request several times.
  void tell_of_retry(const std::string& why, const Progress& progress) {
    if (std::exchange(told_of_retry_, true)) return;
    progress.hide();
    std::fprintf(stderr, "vase: %s; it is asked again, %d times at most\n", eval::printable(why).c_str(),
                 o_.server.attempts);
  }

  const EvalRunOptions& o_;
  eval::ResultsFolder& folder_;
  eval::Grader& grader_;
  size_t total_ = 0, done_ = 0;
  std::vector<std::string> left_out_, unjudged_;
  bool told_of_retry_ = false;
  Tally tally_;
};

// What would fail at some cell fails before the first.
void check_cells(const Model& model, const EvalRunOptions& o, const eval::Prompts& prompts) {
  for (const eval::Cell& cell : o.plan.cells) {
    const MemoryPlan plan =
        plan_memory(model.shape(), cell.policy, eval::cell_cache(cell, o.generation, prompts.longest()),
                    o.generation.engine);
    require_memory(plan.bytes(),
                   "the cache of " + std::to_string(plan.sequences) + " sequences for " + cell.name +
                       (cell.budget > 0 ? " at " + std::to_string(cell.budget) : ""),
                   "Give fewer --sequences, a smaller --kv-budget or fewer --max-tokens");
  }
}

eval::Generator generator_of(const EvalRunOptions& o, const Model* model) {
  if (!model)
    return {.model = o.server.model, .name = o.server.model, .server = o.server.url, .build = build_id()};
  return {
      .model = model->shape().fingerprint, .name = model->shape().name, .server = {}, .build = build_id()};
}

void tell_of_earlier(const eval::ResultsFolder& folder, const EvalRunOptions& o) {
  if (folder.torn() > 0) {
    std::fprintf(stderr, "vase: the last line of %s was torn; it was cut off and is generated again\n",
                 o.out.c_str());
  }
  if (!folder.results().empty()) {
    std::fprintf(stderr, "vase: %zu texts are there already; going on\n", folder.results().size());
  }
}

// what: what became of these texts.
void tell_of(std::span<const std::string> some, size_t texts, const char* what) {
  constexpr size_t kMost = 100;  // lines: a damaged model gives none of its texts
  if (some.empty()) return;
  std::fprintf(stderr, "vase: %zu of %zu texts %s:\n", some.size(), texts, what);
  for (const std::string& one : some.first(std::min(kMost, some.size())))
    std::fprintf(stderr, "  %s\n", eval::printable(one).c_str());
  if (some.size() > kMost) std::fprintf(stderr, "  and %zu more\n", some.size() - kMost);
}

}  // namespace

int eval_run_command(const Arguments& arguments) {
  std::optional<EvalRunOptions> options = EvalRunOptions::parse(arguments);
  if (!options) return kExitOk;
  EvalRunOptions& o = *options;
  watch_interrupts();
  eval::Grader grader(o.grader);
  eval::check_answers(o.plan, grader);

  std::shared_ptr<const Model> model;
  std::optional<eval::Prompts> prompts;
  if (o.server.url.empty()) {
    model = Model::load(o.model, o.generation.products);
    o.preset.check(model->shape());
    prompts.emplace(*model, o.plan, o.generation);
    eval::buy_budgets(o.plan, o.generation, model->shape(), prompts->longest());
    check_cells(*model, o, *prompts);
  } else {
    eval::ChatServer(o.server).check();
  }
  const nlohmann::json config =
      eval::config_json(generator_of(o, model.get()), o.plan, o.generation, grader.name(), o.arguments);
  eval::ResultsFolder folder(o.out, config);
  tell_of_earlier(folder, o);
  defer_interrupts();
  EvalRun run(o, folder, grader);
  const auto report = [&](bool) {
    const eval::ResultSet set{o.out, config, folder.results()};
    print_results({&set, 1}, o.json);
    tell_of(run.left_out(), run.total(), "are left out; run it again to ask for these once more");
    tell_of(run.unjudged(), run.total(), "could not be judged and count as wrong, with \"right\" null in their lines");
  };
  const bool complete = run_and_report([&] { return run.run(model, prompts ? &*prompts : nullptr); }, report);
  if (!complete) return kExitInterrupted;
  return run.left_out().empty() && run.unjudged().empty() ? kExitOk : kExitFailure;
}

}  // namespace vase::cli
