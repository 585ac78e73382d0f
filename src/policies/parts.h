// The parts that a policy's text can name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "policies/part_options.h"
#include "vase/policy.h"
#include "vase/reader.h"

namespace vase {

// One part: how its text is read and what `vase policies` says about it. Each part defines its entry in its own file;
// parts.cc lists them.
template <typename Part>
struct PartEntry {
  std::string_view name;
  std::shared_ptr<const Part> (*parse)(PartOptions& options);
  std::string_view summary;  // one line, with the formula
  std::string_view source;   // paper or "control"
  std::span<const PartInfo::Parameter> parameters = {};
};

// The registry: one name per part, defined in the part's own file. Rules run in this order, whatever order the text
// has: sinks before prompt, both before what fills up the rest.
#define VASE_PROTECTORS(X) X(kSinksPart) X(kPromptPart) X(kRecentPart) X(kValueRule) X(kLeverageRule) X(kRandomRule)
#define VASE_SCORERS(X)                                                                                 \
  X(kAttentionPart) X(kCaotePart) X(kExpectedAttentionPart) X(kKeyDiffPart) X(kKeyNormPart)             \
  X(kLagPart) X(kLeveragePart) X(kLifetimeAttentionPart) X(kPositionPart) X(kQueryAttentionPart)        \
  X(kRecurrencePart) X(kRedundancyPart) X(kTriAttentionPart) X(kUniformPart) X(kValuePart)
#define VASE_SELECTORS(X) X(kTopPart) X(kSamplePart) X(kStrataPart) X(kClusterPart)
#define VASE_READERS(X) X(kQuestPart) X(kOraclePart) X(kSeerPart)

#define VASE_DECLARE_PROTECTOR(part) extern const PartEntry<Protector> part;
#define VASE_DECLARE_SCORER(part) extern const PartEntry<Scorer> part;
#define VASE_DECLARE_SELECTOR(part) extern const PartEntry<Selector> part;
#define VASE_DECLARE_READER(part) extern const PartEntry<Reader> part;
VASE_PROTECTORS(VASE_DECLARE_PROTECTOR)
VASE_SCORERS(VASE_DECLARE_SCORER)
VASE_SELECTORS(VASE_DECLARE_SELECTOR)
VASE_READERS(VASE_DECLARE_READER)

std::span<const PartEntry<Protector>* const> protector_parts();
std::span<const PartEntry<Scorer>* const> scorer_parts();
std::span<const PartEntry<Selector>* const> selector_parts();
std::span<const PartEntry<Reader>* const> reader_parts();

}  // namespace vase
