// What `vase tune --kv-budget-mb` prints and writes.
#pragma once

#include <optional>

#include "eval/ranking.h"
#include "output.h"
#include "tune_bytes.h"

namespace vase::cli {

// The table or the object, and the preset file. Made before the run, so that a wrong path fails at once.
class BytesOutput {
 public:
  // Throws Error(kUsage) for a file that is there and may not be replaced; kResource.
  explicit BytesOutput(const TuneOptions& options);
  // The preset is written only when the run is complete.
  void write(const BytesRun& run, bool complete);

 private:
  const TuneOptions& o_;
  std::optional<OutputFile> preset_;
};

}  // namespace vase::cli
