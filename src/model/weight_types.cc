#include "model/weight_types.h"

#include <ggml.h>

#include <algorithm>
#include <array>

namespace vase::model {
namespace {

constexpr std::array kTypes = {GGML_TYPE_F32,  GGML_TYPE_F16,    GGML_TYPE_BF16,  GGML_TYPE_Q4_0,
                               GGML_TYPE_Q4_1, GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,  GGML_TYPE_Q8_0,
                               GGML_TYPE_Q2_K, GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,  GGML_TYPE_Q5_K,
                               GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS};

}  // namespace

bool is_supported_weight_type(uint32_t id) {
  return std::any_of(kTypes.begin(), kTypes.end(), [id](ggml_type type) { return uint32_t(type) == id; });
}

std::string supported_weight_types() {
  std::string text;
  for (const ggml_type type : kTypes) text += (text.empty() ? "" : ", ") + std::string(ggml_type_name(type));
  return text;
}

}  // namespace vase::model
