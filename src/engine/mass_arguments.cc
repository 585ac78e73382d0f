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

void set_mass_arguments(const PolicyNeeds& needs, HeadSlots head, int candidates, int64_t seen,
                        kernels::SlotAttentionArgs& args) {
  args.mass = {.form = form_of(needs.attention)};
  kernels::MassArgs& mass = args.mass;
  const int older = args.older.slots, begin = head.recent_begin();
  switch (needs.attention) {
    case AttentionRecord::kNone:
      break;
    case AttentionRecord::kWindowSum:
    case AttentionRecord::kWindowSquares:
    case AttentionRecord::kWindowMax:
      if (head.used() <= candidates) break;  // none of these tokens will be in the buffer
      args.older.sum = head.attention().data();
      mass.sum = head.attention().data() + begin;
      mass.candidates = needs.over_all ? head.recent_used() : candidates - older;
      mass.first_token = std::max(0, candidates - older - args.slots_before);
      mass.temperature = needs.temperature;
      break;
    case AttentionRecord::kLifetimeSum:
      args.older.sum = head.attention().data();
      mass.sum = head.attention().data() + begin;
      mass.candidates = head.recent_used();
      break;
    case AttentionRecord::kRecurrence:
      mass.candidates = head.recent_used();
      args.older.last_use = head.last_use().data();
      args.older.longest_gap = head.longest_gap().data();
      mass.last_use = head.last_use().data() + begin;
      mass.longest_gap = head.longest_gap().data() + begin;
      mass.threshold = needs.threshold;
      mass.position = static_cast<int32_t>(seen);
      break;
  }
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
