#include "synthetic/weight_pool.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace vase::synthetic {
namespace {

// A prime number of blocks, so that the rows of a matrix never start at the same place of the pool.
int64_t pool_blocks(ggml_type type) {
  switch (ggml_blck_size(type)) {
    case 1:
      return 2097143;
    case 32:
      return 65537;
    default:
      return 8191;
  }
}

}  // namespace

WeightPool::Pool& WeightPool::pool(ggml_type type, float deviation) {
  Pool& found = pools_[{type, deviation}];
  if (!found.bytes.empty()) return found;
  const int64_t block = ggml_blck_size(type), blocks = pool_blocks(type);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(size_t(block * blocks));
  for (float& value : values) value = normal(random);
  found.bytes.resize(size_t(blocks) * ggml_type_size(type));
  ggml_quantize_chunk(type, values.data(), found.bytes.data(), 0, blocks, block, nullptr);
  return found;
}

void WeightPool::write(std::ostream& out, ggml_type type, int64_t columns, int64_t rows, float scale) {
  Pool& from = pool(type, scale / std::sqrt(float(columns)));
  for (size_t left = ggml_row_size(type, columns) * size_t(rows); left > 0;) {
    const size_t part = std::min(left, from.bytes.size() - from.at);
    out.write(reinterpret_cast<const char*>(from.bytes.data() + from.at), std::streamsize(part));
    from.at = (from.at + part) % from.bytes.size();
    left -= part;
  }
}

}  // namespace vase::synthetic
