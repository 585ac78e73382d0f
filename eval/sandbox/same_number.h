// Decimal numbers compared by their digits: no rounding, however long they are.
#pragma once

#include <string_view>

namespace vase::eval {

// Whether both are decimal numbers ("-12", "+.5", "1.50e3") and equal. Minus zero equals zero.
bool same_number(std::string_view a, std::string_view b);

}  // namespace vase::eval
