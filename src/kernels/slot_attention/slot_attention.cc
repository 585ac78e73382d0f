#include "kernels/slot_attention/slot_attention.h"

#include <algorithm>
#include <cassert>

#include "kernels/slot_attention/fused.h"
#include "kernels/slot_attention/layout.h"
#include "kernels/slot_attention/reference.h"

namespace vase::kernels {
namespace {

[[maybe_unused]] bool suffices(std::span<float> scratch, const SlotAttentionArgs& args) {
  return scratch.size() >= slot_attention_scratch(args);
}

}  // namespace

size_t slot_attention_scratch(const SlotAttentionArgs& args) {
  return std::max(Layout(args, nullptr).floats(), reference::scratch_floats(args));
}

void slot_attention(Path path, const SlotAttentionArgs& args, std::span<float> scratch) {
  assert(suffices(scratch, args));
  if (path == Path::kReference) {
    reference::slot_attention(args, scratch);
  } else {
    fused::slot_attention(args, scratch);
  }
}

void slot_attention_prepare(Path path, const SlotAttentionArgs& args, std::span<float> scratch) {
  assert(suffices(scratch, args));
  if (path == Path::kFused) fused::prepare(args, scratch);
}

void slot_attention_segment(Path path, const SlotAttentionArgs& args, int segment, std::span<float> scratch) {
  assert(suffices(scratch, args));
  if (path == Path::kFused) fused::segment(args, segment, scratch);
}

// The reference has no pieces: it does all its work here.
void slot_attention_finish(Path path, const SlotAttentionArgs& args, std::span<float> scratch) {
  assert(suffices(scratch, args));
  if (path == Path::kFused) {
    fused::finish(args, scratch);
  } else {
    reference::slot_attention(args, scratch);
  }
}

}  // namespace vase::kernels
