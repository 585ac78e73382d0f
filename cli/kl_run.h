// Measuring divergences over texts, for `vase eval kl` and `vase tune`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eval/kl_report.h"
#include "progress.h"

namespace vase::cli {

// The rows of a table, each with one cell per eviction seed.
struct KlGrid {
  std::vector<eval::KlRow> rows;                 // without texts
  std::vector<std::vector<eval::KlCell>> cells;  // [row][seed]

  void add(eval::KlRow row, const eval::KlCell& first, int seeds);  // as with_seeds()
};

// A cell and those of the seeds that follow its own; it alone where nothing is drawn.
std::vector<eval::KlCell> with_seeds(const eval::KlCell& first, int seeds);

struct KlMeasured {
  std::vector<eval::KlRow> rows, floors;  // of the grid; the full cache against itself

  void add(const KlMeasured& more);  // its texts
};

// Throws Error(kResource) where memory does not hold a cell's run of the text beside `full` bytes of the full
// cache's distributions. advice: what to do then.
void require_memory_beside(uint64_t full, const Model& model, const eval::Text& text,
                           const eval::KlCell& cell, const eval::KlOptions& options,
                           const std::string& advice);
// The same for all cells of a grid over all texts, of which one at a time is held.
void require_memory_for(const KlGrid& grid, const Model& model, const std::vector<eval::Text>& texts,
                        const eval::KlOptions& options, const std::string& advice);

// Adds the text to the row, once per cell; false when it was interrupted.
bool measure_cells(eval::KlRow& row, const std::vector<eval::KlCell>& cells, const eval::FullCache& full,
                   const eval::Text& text, const eval::KlOptions& options, Progress& progress);

// Text by text, with the noise floors counted from the given position on. A text counts for all rows or for
// none, so that they stay comparable: `done` takes what came out of each that was finished. False when it was
// interrupted.
bool measure_grid(const KlGrid& grid, const std::shared_ptr<const Model>& model,
                  const std::vector<eval::Text>& texts, const eval::KlOptions& options, int64_t floors_from,
                  const std::function<void(const KlMeasured&)>& done);

}  // namespace vase::cli
