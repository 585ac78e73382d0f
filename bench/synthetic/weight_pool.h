// Random weights, quantised once and dealt out again and again.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

namespace vase::synthetic {

class WeightPool {
 public:
  // Writes rows of normal numbers with deviation 1 / sqrt(columns), times `scale`.
  void write(std::ostream& out, ggml_type type, int64_t columns, int64_t rows, float scale);

 private:
  struct Pool {
    std::vector<uint8_t> bytes;
    size_t at = 0;  // where the next tensor starts
  };
  Pool& pool(ggml_type type, float deviation);

  std::map<std::pair<ggml_type, float>, Pool> pools_;
};

}  // namespace vase::synthetic
