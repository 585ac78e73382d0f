// What is not always known, in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace vase::eval {

// The value, or null where there is none.
template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace vase::eval
