#include "policies/parts.h"

#include "policies/protect/chance.h"
#include "policies/protect/prompt.h"
#include "policies/protect/sinks.h"
#include "policies/protect/value.h"
#include "policies/score/attention.h"
#include "policies/score/leverage.h"
#include "policies/score/uniform.h"
#include "policies/score/value_size.h"
#include "policies/select/sample.h"
#include "policies/select/top.h"

namespace vase {

std::span<const PartEntry<Protector>> protector_parts() {
  static constexpr PartEntry<Protector> kParts[] = {{"sinks", &Sinks::parse},
                                                    {"prompt", &Prompt::parse},
                                                    {"value", &LargeValues::parse},
                                                    {"random", &Chance::parse}};
  return kParts;
}

std::span<const PartEntry<Scorer>> scorer_parts() {
  static constexpr PartEntry<Scorer> kParts[] = {{"attention", &WindowAttention::parse},
                                                 {"leverage", &Leverage::parse},
                                                 {"uniform", &Uniform::parse},
                                                 {"value", &ValueSize::parse}};
  return kParts;
}

std::span<const PartEntry<Selector>> selector_parts() {
  static constexpr PartEntry<Selector> kParts[] = {{"top", &Top::parse}, {"sample", &Sample::parse}};
  return kParts;
}

}  // namespace vase
