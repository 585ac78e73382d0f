#include "kernels/byte_dot.h"

namespace vase::kernels {

bool byte_dot_allowed = true;

}  // namespace vase::kernels
