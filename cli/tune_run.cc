#include "tune_run.h"

#include <algorithm>

#include "base/machine.h"
#include "given_once.h"
#include "interrupt.h"
#include "kl_run.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr int kStep = 16;

// A head drops its first token after M and one period, and something must follow.
eval::BudgetRange range_for(const TuneOptions& o, const Policy& policy, const std::string& name,
                            const ModelShape& shape, int longest) {
  const CacheOptions& cache = o.cache.options;
  const int step = o.step > 0 ? o.step : cache.trigger == Trigger::kParity ? cache.buffer : kStep;
  const int period = !policy.evicts() ? 0 : cache.period > 0 ? cache.period : cache.buffer;
  const int lowest = (smallest_budget(shape, policy, cache) + step - 1) / step * step;
  const int highest = (longest - 1 - period) / step * step;
  if (lowest <= highest) return {lowest, highest, step};
  throw Error(ErrorCode::kUsage, "the longest text has " + std::to_string(longest) + " tokens, of which " +
                                     vase::quoted(name) + " drops none at its smallest budget, " +
                                     std::to_string(lowest) + "; give longer texts");
}

std::vector<Tuned> make_all(const TuneOptions& o, const ModelShape& shape, int longest) {
  std::vector<Tuned> all;
  GivenOnce once;
  for (const std::string& name : o.policies) {
    const Policy policy = o.cache.parse_policy(name);
    if (!policy.evicts() && !policy.reads())
      throw Error(ErrorCode::kUsage, "--policy full has no budget; leave it out");
    once.add(name, policy);
    all.push_back({o.cache.with_rules(name), policy, range_for(o, policy, name, shape, longest), {}, {}});
    for (const int budget : {all.back().range.lowest, all.back().range.highest})
      policy.validate(budget, o.cache.options.buffer);
  }
  return all;
}

}  // namespace

const eval::KlRow& Tuned::row_at(int at) const { return *std::ranges::find(rows, at, &eval::KlRow::budget); }

FullCaches::FullCaches(std::shared_ptr<const Model> model, const std::vector<eval::Text>& texts,
                       const eval::KlOptions& options)
    : model_(std::move(model)), texts_(texts), options_(options), kept_(texts.size()) {
  for (const eval::Text& text : texts) {
    const uint64_t bytes = eval::FullCache::bytes_for(*model_, text);
    all_ += bytes;
    largest_ = std::max(largest_, bytes);
  }
  keeps_ = all_ <= available_memory() / 2;
}

const eval::FullCache& FullCaches::of(size_t text) {
  if (kept_[text]) return *kept_[text];
  if (!keeps_) {
    for (auto& one : kept_) one.reset();
  }
  kept_[text] = std::make_unique<eval::FullCache>(model_, texts_[text], options_);
  return *kept_[text];
}

TuneRun::TuneRun(const TuneOptions& options, std::shared_ptr<const Model> model)
    : o_(options),
      model_(std::move(model)),
      texts_(o_.texts.read(*model_)),
      tuned_(make_all(o_, model_->shape(), static_cast<int>(eval::longest_of(texts_)))),
      fulls_(model_, texts_, o_.kl) {
  check_memory();
}

void TuneRun::check_memory() const {
  for (const Tuned& tuned : tuned_) {
    CacheOptions cache = o_.cache.options;
    cache.budget = tuned.range.highest;
    for (const eval::Text& text : texts_)
      require_memory_beside(fulls_.bytes(), *model_, text, {tuned.policy, tuned.name, cache}, o_.kl,
                            "Give fewer --tokens");
  }
}

bool TuneRun::run() {
  if (!measure_floors()) return false;
  for (Tuned& tuned : tuned_) {
    const eval::FoundBudget found = eval::smallest_budget_below(
        o_.target, tuned.range, [&](int budget) { return measure(tuned, budget); });
    tuned.budget = found.budget;
    std::ranges::sort(tuned.rows, {}, &eval::KlRow::budget);
    if (!found.complete) return false;
  }
  return true;
}

bool TuneRun::measure_floors() {
  Progress progress(texts_.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (interrupted()) return false;
    progress.next(texts_[i].name + ": noise floor");
    eval::add_noise_floors(floors_, fulls_.of(i), o_.kl);
  }
  return true;
}

// Nothing after an interrupt: a mean over some of the texts cannot be compared with one over all. The search begins
// with the smallest budget, and the others count its positions: it loses tokens first, and before that they are
// the full cache.
std::optional<double> TuneRun::measure(Tuned& tuned, int budget) {
  CacheOptions cache = o_.cache.options;
  cache.budget = budget;
  eval::KlRow row{.name = tuned.name,
                  .budget = budget,
                  .texts = {},
                  .settings = eval::settings_json(tuned.policy, cache, o_.kl)};
  std::vector<eval::KlCell> cells =
      with_seeds({tuned.policy, tuned.name, cache, static_cast<uint64_t>(o_.first_seed)}, o_.seeds);
  Progress progress(texts_.size() * cells.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (interrupted()) return std::nullopt;
    for (size_t seed = 0; !tuned.rows.empty() && seed < cells.size(); ++seed)
      cells[seed].count_from = tuned.rows.front().texts[row.texts.size() + seed].first_counted();
    if (!measure_cells(row, cells, fulls_.of(i), texts_[i], o_.kl, progress)) return std::nullopt;
  }
  tuned.rows.push_back(std::move(row));
  return eval::summarise(tuned.rows.back()).kl;
}

}  // namespace vase::cli
