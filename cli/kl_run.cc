#include "kl_run.h"

#include <utility>

#include "interrupt.h"
#include "require_memory.h"
#include "vase/engine.h"

namespace vase::cli {
namespace {

void add_texts(std::vector<eval::KlRow>& all, const std::vector<eval::KlRow>& more) {
  for (size_t r = 0; r < all.size(); ++r)
    all[r].texts.insert(all[r].texts.end(), more[r].texts.begin(), more[r].texts.end());
}

}  // namespace

void KlGrid::add(eval::KlRow row, const eval::KlCell& first, int seeds) {
  rows.push_back(std::move(row));
  cells.push_back(with_seeds(first, seeds));
}

std::vector<eval::KlCell> with_seeds(const eval::KlCell& first, int seeds) {
  std::vector<eval::KlCell> cells(static_cast<size_t>(eval::seeds_of(first.policy, seeds)), first);
  for (size_t i = 0; i < cells.size(); ++i) cells[i].seed += i;
  return cells;
}

void KlMeasured::add(const KlMeasured& more) {
  add_texts(rows, more.rows);
  add_texts(floors, more.floors);
}

void require_memory_beside(uint64_t full, const Model& model, const eval::Text& text,
                           const eval::KlCell& cell, const eval::KlOptions& options,
                           const std::string& advice) {
  const MemoryPlan plan = plan_memory(
      model.shape(), cell.policy, eval::cache_for(cell.policy, cell.cache, text), eval::engine_for(options));
  require_memory(full + plan.bytes(),
                 text.name + ": " + cell.text() + " beside the full cache's distributions", advice);
}

void require_memory_for(const KlGrid& grid, const Model& model, const std::vector<eval::Text>& texts,
                        const eval::KlOptions& options, const std::string& advice) {
  for (const eval::Text& text : texts) {
    const uint64_t full = eval::FullCache::bytes_for(model, text);
    require_memory(
        full,
        text.name + ": the full cache's distributions over " + std::to_string(text.tokens.size()) + " tokens",
        "Give fewer --tokens");
    for (const auto& cells : grid.cells)
      require_memory_beside(full, model, text, cells.front(), options, advice);
  }
}

bool measure_cells(eval::KlRow& row, const std::vector<eval::KlCell>& cells, const eval::FullCache& full,
                   const eval::Text& text, const eval::KlOptions& options, Progress& progress) {
  const std::string types = row.kv_type.empty() ? "" : row.kv_type + ", ";
  for (const eval::KlCell& cell : cells) {
    if (interrupted()) return false;
    progress.next(text.name + ": " + types + cell.text());
    row.texts.push_back(full.compare(cell, options));
  }
  return true;
}

bool measure_grid(const KlGrid& grid, const std::shared_ptr<const Model>& model,
                  const std::vector<eval::Text>& texts, const eval::KlOptions& options, int64_t floors_from,
                  const std::function<void(const KlMeasured&)>& done) {
  size_t per_text = 2;
  for (const auto& cells : grid.cells) per_text += cells.size();
  Progress progress(texts.size() * per_text);
  for (const eval::Text& text : texts) {
    if (interrupted()) return false;
    progress.next(text.name + ": full cache");
    const eval::FullCache full(model, text, options);
    progress.next(text.name + ": noise floor");
    KlMeasured one{grid.rows, eval::noise_floor_rows(options)};
    eval::add_noise_floors(one.floors, full, options, floors_from);
    for (size_t r = 0; r < one.rows.size(); ++r) {
      if (!measure_cells(one.rows[r], grid.cells[r], full, text, options, progress)) return false;
    }
    done(one);
  }
  return true;
}

}  // namespace vase::cli
