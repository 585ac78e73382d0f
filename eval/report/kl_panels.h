// Which rows of `vase eval kl` may stand in one figure, and as which line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/report/kl_lines.h"

namespace vase::eval::report {

struct KlSeries {
  std::string label;  // of its rows; the file as well when another file of the panel has the label, too
  std::string policy;
  std::vector<const KlFileRow*> rows;  // with counted positions, by growing budget; not empty
};

// One model.
struct KlPanel {
  std::string model;
  std::vector<KlSeries> series;
  std::optional<double> floor;  // the largest of its files; empty when none has one
  bool same_texts = true;       // whether all its files are about the same texts
};

// rows: kl_rows() of each file; what they point to must outlive the panels. Models of which nothing was
// evicted have none.
std::vector<KlPanel> kl_panels_of(std::span<const KlFile> files,
                                  std::span<const std::vector<KlFileRow>> rows);

}  // namespace vase::eval::report
