#include "engine/close_gaps.h"

#include "kernels/rotation/rotation.h"

namespace vase {

void close_gaps(const Rope& rope, const KeepPlan& plan, HeadSlots head, std::span<float> turn, std::span<float> row) {
  const size_t keep = plan.kept.size();
  int turned = 0;  // shift that `turn` is for; 0 = none yet
  for (size_t i = 0; i < keep; ++i) {
    const int behind = plan.candidates - 1 - static_cast<int>(plan.kept[i]);
    const int shift = behind - static_cast<int>(keep - 1 - i);  // those behind that go
    if (shift == 0) return;  // nor does any behind this one
    if (shift != turned) kernels::rotation_for(rope, shift, turn);
    turned = shift;
    const uint32_t slot = head.order()[plan.kept[i]];
    head.read_key(slot, row.data());
    kernels::rotate_row(rope, turn, row);
    head.set_key(slot, row.data());
  }
}

}  // namespace vase
