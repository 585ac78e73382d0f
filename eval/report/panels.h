// Which rows of results may stand in one figure, and as which line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/run/summary.h"

namespace vase::eval::report {

// A row with the folder that it is from.
struct Cell {
  const SummaryRow* row;
  const ResultSet* set;

  std::vector<const Result*> results() const;
};

// One policy under one configuration.
struct Series {
  std::string label;  // the policy; the folder as well when the panel has several configurations
  std::string policy;
  std::vector<Cell> cells;  // by growing budget

  // It has no budget: the full cache, or another program.
  bool is_level() const { return cells.front().row->budget == 0; }
};

// One task with one model. Folders that differ in nothing but their policies, budgets and tasks are one
// configuration.
struct Panel {
  std::string task;
  std::string title;  // task and model
  std::vector<Series> series;

  bool has_full() const;
  bool has_random() const;
  bool has_budgets() const;
};

// rows: summarise(sets). What they point to must outlive the panels. Another program's results stand with
// those of the first model that has the task. A cell that two folders of one configuration hold is taken from
// the one with more texts.
std::vector<Panel> panels_of(std::span<const ResultSet> sets, std::span<const SummaryRow> rows);

// The lines that a figure has room for: the full cache, random, then the others in their order.
std::vector<const Series*> shown_series(const Panel& panel, size_t most);

// What a figure of the panel has to say about lines that are not there; empty when there is nothing to say.
std::string missing_words(const Panel& panel, size_t shown);

bool is_full(const std::string& policy);
bool is_random(const std::string& policy);

}  // namespace vase::eval::report
