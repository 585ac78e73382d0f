#include "policies/parts.h"

namespace vase {

#define VASE_ADDRESS(part) &part,

std::span<const PartEntry<Protector>* const> protector_parts() {
  static constexpr const PartEntry<Protector>* kParts[] = {VASE_PROTECTORS(VASE_ADDRESS)};
  return kParts;
}

std::span<const PartEntry<Scorer>* const> scorer_parts() {
  static constexpr const PartEntry<Scorer>* kParts[] = {VASE_SCORERS(VASE_ADDRESS)};
  return kParts;
}

std::span<const PartEntry<Selector>* const> selector_parts() {
  static constexpr const PartEntry<Selector>* kParts[] = {VASE_SELECTORS(VASE_ADDRESS)};
  return kParts;
}

std::span<const PartEntry<Reader>* const> reader_parts() {
  static constexpr const PartEntry<Reader>* kParts[] = {VASE_READERS(VASE_ADDRESS)};
  return kParts;
}

namespace {

template <typename Part>
void append(std::string_view kind, std::span<const PartEntry<Part>* const> parts, std::vector<PartInfo>& out) {
  for (const auto* part : parts) out.push_back({kind, part->name, part->summary, part->source, part->parameters});
}

}  // namespace

std::vector<PartInfo> Policy::parts() {
  std::vector<PartInfo> all;
  append("protect", protector_parts(), all);
  append("score", scorer_parts(), all);
  append("select", selector_parts(), all);
  append("read", reader_parts(), all);
  return all;
}

}  // namespace vase
