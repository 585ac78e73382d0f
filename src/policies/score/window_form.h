// One number per candidate out of a window's attention record, for the parts that score by it
// (docs/policies.md 3.1, 3.2).
#pragma once

#include <span>
#include <string>

#include "kernels/smoothing/smoothing.h"
#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

// Options in a policy's text, of every part that has a WindowForm:
//   form         mean (default): (1/rows) sum of p | rms: root of the mean of p^2 | max: largest p, over the rows of
//                the window, one per query and head of the group
//   over         candidates (default): what p is normalised over | all: all slots used, the buffer included
//   smooth       on (default) | off: average over 5 neighbours
//   divisor      valid (default): neighbours that exist | fixed: always 5, as the authors' code, which lowers both
//                edges
//   temperature  of the softmax, 0.01 to 100, default 1
struct WindowForm {
  enum class Form { kMean, kRms, kMax };

  Form form = Form::kMean;
  bool over_all = false;
  bool smooth = true;
  kernels::Divisor divisor = kernels::Divisor::kValid;
  double temperature = 1;

  static WindowForm parse(PartOptions& options);
  PolicyNeeds needs() const;
  // out[C]; uses scratch.energy.
  void evaluate(const HeadView& head, PolicyScratch& scratch, std::span<float> out) const;
  // The part's canonical text: `name`, and the options that are not the default.
  std::string text(const std::string& name) const;

  static std::span<const PartInfo::Parameter> parameters();
};

}  // namespace vase
