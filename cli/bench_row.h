// One row of `vase bench` as the flat record that every format is made from.
#pragma once

#include <nlohmann/json.hpp>

#include "end_to_end/runner.h"

namespace vase::cli {

// Fields in the order of the columns; docs/bench.md explains each. The same fields in every row, null where
// nothing was measured.
class BenchRecord {
 public:
  explicit BenchRecord(const bench::BenchOptions& options);
  nlohmann::ordered_json row(const bench::Row& row) const;

 private:
  nlohmann::ordered_json facts_;  // what all rows of a run share
  bool predict_;
};

}  // namespace vase::cli
