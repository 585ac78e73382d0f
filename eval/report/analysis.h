// Pages of `vase analyze`: tables, which the command prints as well, and figures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eval/held_attention.h"
#include "eval/report/document.h"
#include "eval/retention.h"
#include "eval/retention_map.h"
#include "eval/value_study.h"

namespace vase::eval::report {

// One policy with one budget of a HeldStudy, in the order of its cells.
struct HeldCell {
  std::string policy;
  int budget = 0;
};

// Name of the text, and the token as it can be read in one line.
using TokenName = std::function<std::pair<std::string, std::string>(const ValueRange&)>;

// foot: the last line. Every table and figure is about all layers of the study; `ratio` as in RangeStudy, and at most
// `listed` tokens of a layer are listed, if they lie beyond it.
Document range_page(const ValueStudy& study, double ratio, size_t listed, const TokenName& name, std::string foot);
Document quantizer_page(const ValueStudy& study, std::string foot);
// rows: as retention_of() gives them; not empty. map: of the same records.
Document retention_page(std::span<const RetentionRow> rows, const RetentionMap& map, std::string foot);
Document held_page(const HeldStudy& study, std::span<const HeldCell> cells, std::string foot);

}  // namespace vase::eval::report
