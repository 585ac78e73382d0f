#include "engine/run_arguments.h"

#include <cmath>

namespace vase {

kernels::SlotAttentionArgs run_arguments(const model::LayerInputs& in, const CacheShape& shape, int kv_head, int first,
                                         int tokens, HeadSlots head) {
  const ptrdiff_t group_width = ptrdiff_t(shape.group) * shape.head_dim;
  const ptrdiff_t token_stride = shape.kv_heads * group_width;
  const ptrdiff_t offset = first * token_stride + kv_head * group_width;
  return {.head_dim = shape.head_dim,
          .group = shape.group,
          .tokens = tokens,
          .slots_before = head.recent_used() - tokens,
          .scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
          .q = in.q + offset,
          .q_token_stride = token_stride,
          .q_head_stride = shape.head_dim,
          .k = head.recent_keys(),
          .v = head.recent_values(),
          .older = {.slots = head.older_used(),
                    .k = head.older_keys(),
                    .v = head.older_values(),
                    .key_offset = head.key_offset(),
                    .positions = head.positions().data()},
          .out = in.out + offset,
          .out_token_stride = token_stride,
          .out_head_stride = shape.head_dim};
}

}  // namespace vase
