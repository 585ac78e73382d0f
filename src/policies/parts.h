// The parts that a policy's text can name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "policies/part_options.h"
#include "vase/policy.h"

namespace vase {

template <typename Part>
struct PartEntry {
  std::string_view name;
  std::shared_ptr<const Part> (*parse)(PartOptions& options);
};

// Rules run in this order, whatever order the text has: sinks before prompt, both before what fills up the rest.
std::span<const PartEntry<Protector>> protector_parts();
std::span<const PartEntry<Scorer>> scorer_parts();
std::span<const PartEntry<Selector>> selector_parts();

}  // namespace vase
