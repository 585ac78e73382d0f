#include "engine/mass_arguments.h"

#include <algorithm>

namespace vase {
namespace {

using kernels::MassForm;

MassForm form_of(AttentionRecord record) {
  switch (record) {
    case AttentionRecord::kWindowSquares: return MassForm::kSquares;
    case AttentionRecord::kWindowMax: return MassForm::kMax;
    case AttentionRecord::kRecurrence: return MassForm::kRecurrence;
    default: return MassForm::kSum;
  }
}

}  // namespace

kernels::MassArgs mass_arguments(const PolicyNeeds& needs, HeadSlots head, int candidates, int slots_before,
                                 int64_t seen) {
  kernels::MassArgs mass{.form = form_of(needs.attention)};
  switch (needs.attention) {
    case AttentionRecord::kNone:
      break;
    case AttentionRecord::kWindowSum:
    case AttentionRecord::kWindowSquares:
    case AttentionRecord::kWindowMax:
      if (head.used() <= candidates) break;  // none of these tokens will be in the buffer
      mass.sum = head.attention().data();
      mass.candidates = needs.over_all ? head.used() : candidates;
      mass.first_token = std::max(0, candidates - slots_before);
      mass.temperature = needs.temperature;
      break;
    case AttentionRecord::kLifetimeSum:
      mass.sum = head.attention().data();
      mass.candidates = head.used();
      break;
    case AttentionRecord::kRecurrence:
      mass.candidates = head.used();
      mass.last_use = head.last_use().data();
      mass.longest_gap = head.longest_gap().data();
      mass.threshold = needs.threshold;
      mass.position = static_cast<int32_t>(seen);
      break;
  }
  return mass;
}

kernels::MassArgs largest_mass(const PolicyNeeds& needs, int capacity) {
  static float some_sum;  // only told apart from null
  static int32_t some_use;
  if (needs.attention == AttentionRecord::kNone) return {};
  return {.form = form_of(needs.attention),
          .sum = &some_sum,
          .candidates = capacity,
          .temperature = needs.temperature,
          .last_use = &some_use,
          .longest_gap = &some_use};
}

}  // namespace vase
