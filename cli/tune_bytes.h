// `vase tune --kv-budget-mb`: what megabytes buy, over types of rows and policies, measured on the same
// positions of the same texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "given_once.h"
#include "kl_run.h"
#include "tune_options.h"

namespace vase::cli {

// A policy with rows of a type, and the cache that the megabytes buy it.
struct Candidate {
  std::string name;  // of the policy, as the user wrote it
  Policy policy;
  eval::BoughtCache bought;
};

// What the megabytes do not buy, or what does not go together, and why.
struct NotMeasured {
  std::string name, kv_type, why;
};

class BytesRun {
 public:
  // Throws Error(kUsage) when nothing can be compared; kResource where memory is not enough; what reading
  // texts throws. The options must outlive the object.
  BytesRun(const TuneOptions& options, std::shared_ptr<const Model> model);

  // False when it was interrupted; then the texts that were finished count.
  bool run();

  const Model& model() const { return *model_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const std::vector<eval::KlRow>& rows() const { return measured_.rows; }  // one for each candidate
  const std::vector<eval::KlRow>& floors() const { return measured_.floors; }
  const std::vector<NotMeasured>& not_measured() const { return not_measured_; }
  int64_t counted_from() const { return from_; }

 private:
  void buy(const std::string& kv_type, const std::string& name, GivenOnce& once);
  void set_first_position();

  const TuneOptions& o_;
  std::shared_ptr<const Model> model_;
  std::vector<eval::Text> texts_;
  std::vector<Candidate> candidates_;
  std::vector<NotMeasured> not_measured_;
  KlGrid grid_;  // a row for each candidate
  KlMeasured measured_;
  int64_t from_ = 0;  // the first position at which any candidate can differ from the full cache
};

}  // namespace vase::cli
