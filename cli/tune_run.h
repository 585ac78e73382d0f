// The measurements of `vase tune --target-kl`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/kl_report.h"
#include "eval/tune.h"
#include "tune_options.h"

namespace vase::cli {

// A policy, the budgets at which it drops something in some text, and what came out.
struct Tuned {
  std::string name;
  Policy policy;
  eval::BudgetRange range;
  std::vector<eval::KlRow> rows;  // measured, by growing budget
  std::optional<int> budget;

  const eval::KlRow& row_at(int at) const;
};

// The full cache's distributions over every text: kept where memory has room, made anew else.
class FullCaches {
 public:
  // Everything must outlive the object.
  FullCaches(std::shared_ptr<const Model> model, const std::vector<eval::Text>& texts,
             const eval::KlOptions& options);

  uint64_t bytes() const { return keeps_ ? all_ : largest_; }
  // Valid until the next call.
  const eval::FullCache& of(size_t text);

 private:
  std::shared_ptr<const Model> model_;
  const std::vector<eval::Text>& texts_;
  const eval::KlOptions& options_;
  std::vector<std::unique_ptr<eval::FullCache>> kept_;
  uint64_t all_ = 0, largest_ = 0;
  bool keeps_ = false;
};

class TuneRun {
 public:
  // Throws Error(kUsage) for a policy that has no budget, or whose smallest drops nothing in these texts;
  // kResource where memory is not enough; what reading texts throws. The options must outlive the object.
  TuneRun(const TuneOptions& options, std::shared_ptr<const Model> model);

  // False when it was interrupted.
  bool run();

  const Model& model() const { return *model_; }
  const std::vector<Tuned>& tuned() const { return tuned_; }
  const std::vector<eval::KlRow>& floors() const { return floors_; }

 private:
  void check_memory() const;
  bool measure_floors();
  std::optional<double> measure(Tuned& tuned, int budget);

  const TuneOptions& o_;
  std::shared_ptr<const Model> model_;
  std::vector<eval::Text> texts_;
  std::vector<Tuned> tuned_;
  FullCaches fulls_;
  std::vector<eval::KlRow> floors_ = eval::noise_floor_rows(o_.kl);
};

}  // namespace vase::cli
