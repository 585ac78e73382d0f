#include "capi/handles.h"

using namespace vase::capi;

namespace {

template <typename T>
std::span<const T> span_of(const T* array, int64_t count, const char* name) {
  if (count < 0)
    throw vase::Error(vase::ErrorCode::kUsage, std::string("select: the size of ") + name + " is negative");
  require_array(array, static_cast<size_t>(count), name);
  return {array, static_cast<size_t>(count)};
}

vase::SelectInput input_of(const vase_select_input& in) {
  const int64_t rows = in.rows, cells = rows * in.head_dim;
  vase::SelectInput input;
  input.head_dim = in.head_dim;
  input.keys = span_of(in.keys, cells, "keys");
  input.values = span_of(in.values, cells, "values");
  if (in.positions) input.positions = span_of(in.positions, rows, "positions");
  if (in.log_weight) input.log_weight = span_of(in.log_weight, rows, "log_weight");
  input.group = in.group;
  if (in.queries) {
    const int64_t heads = int64_t(in.query_tokens) * in.group;
    if (heads > INT32_MAX) throw vase::Error(vase::ErrorCode::kUsage, "select: query_tokens x group is too large");
    input.queries = span_of(in.queries, heads * in.head_dim, "queries");
  }
  input.budget = in.budget;
  input.buffer = in.buffer;
  input.prompt_tokens = in.prompt_tokens;
  input.rope = {.frequencies = span_of(in.rope_frequencies, in.rope_pairs, "rope_frequencies"),
                .adjacent = in.rope_adjacent != 0,
                .magnitude = in.rope_magnitude};
  input.layer = in.layer;
  input.kv_head = in.kv_head;
  input.layers = in.layers;
  input.kv_heads = in.kv_heads;
  input.seed = in.seed;
  input.stream = in.stream;
  input.eviction = in.eviction;
  return input;
}

template <typename T>
const T* listed(const std::vector<T>* list, size_t* count) {
  if (count) *count = list ? list->size() : 0;
  return list ? list->data() : nullptr;
}

}  // namespace

extern "C" {

void vase_select_input_init(vase_select_input* input, size_t size) {
  if (!input || size < sizeof(size_t)) return;
  const vase::SelectInput d;
  vase_select_input defaults{};
  defaults.group = d.group;
  defaults.buffer = d.buffer;
  defaults.rope_magnitude = d.rope.magnitude;
  give(defaults, input, size);
  input->size = size;
}

vase_status vase_select(const vase_policy* policy, const vase_select_input* input, vase_selection** selection) {
  return guarded_new(selection, "selection", [&] {
    const vase_select_input whole = complete(&required(input, "input"), vase_select_input_init, "select input");
    return new vase_selection{vase::select_slots(required(policy, "policy").policy, input_of(whole))};
  });
}

void vase_selection_free(vase_selection* selection) { delete selection; }

const uint32_t* vase_selection_kept(const vase_selection* selection, size_t* count) {
  return listed(selection ? &selection->selection.kept : nullptr, count);
}

const float* vase_selection_scores(const vase_selection* selection, size_t* count) {
  return listed(selection ? &selection->selection.scores : nullptr, count);
}

const uint32_t* vase_selection_protected(const vase_selection* selection, size_t* count) {
  return listed(selection ? &selection->selection.protected_ : nullptr, count);
}

const float* vase_selection_log_weight(const vase_selection* selection, size_t* count) {
  return listed(selection ? &selection->selection.log_weight : nullptr, count);
}

}  // extern "C"
