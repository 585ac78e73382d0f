#include "model/columns.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <string_view>

namespace vase::model {
namespace {

// Types whose blocks of 256 share the "tiled" kernel of ggml-cpu (8 columns and more).
bool is_tiled(ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q2_K:
    case GGML_TYPE_Q3_K:
    case GGML_TYPE_Q4_K:
    case GGML_TYPE_Q5_K:
    case GGML_TYPE_Q6_K:
    case GGML_TYPE_IQ4_XS:
      return true;
    default:
      return false;
  }
}

}  // namespace

int ColumnRule::padded(int columns) const {
  return (std::max(columns, least) + multiple - 1) / multiple * multiple;
}

void ColumnRule::join(const ColumnRule& other) {
  least = std::max(least, other.least);
  multiple = std::max(multiple, other.multiple);  // each is 1 or 4
}

ColumnRule column_rule(const ggml_tensor* weight) {
  if (!ggml_backend_buffer_is_host(weight->buffer)) {
    // Repacked K-quants: columns go in fours through one kernel, the rest through another. AMX has one for
    // all.
    const std::string_view buffer = ggml_backend_buffer_name(weight->buffer);
    return is_tiled(weight->type) && buffer == "CPU_REPACK" ? ColumnRule{.multiple = 4} : ColumnRule{};
  }
  if (is_tiled(weight->type)) return {.one_by_one = true};
  switch (weight->type) {
    case GGML_TYPE_F32:
    case GGML_TYPE_F16:
    case GGML_TYPE_BF16:
    case GGML_TYPE_IQ4_NL:
      return {.least = 2};  // llamafile's sgemm takes two columns and more
    default:
      return {};
  }
}

}  // namespace vase::model
