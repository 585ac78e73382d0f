// Keys, values and queries of the heads of one layer, read from arrays. Shapes put the heads first, as torch has them
// after the projection: [sequences][heads][tokens][head_dim].
#pragma once

#include <string>
#include <vector>

#include "arrays/array_file.h"
#include "vase/select.h"

namespace vase::cli {

// S sequences, H KV heads, n tokens, d channels, G query heads per KV head, W queries.
class HeadArrays {
 public:
  // Array (other names)    shapes                                       numbers
  //  K (k, keys)           [n][d], [H][n][d] or [S][H][n][d]            f2, f4, f8
  //  V (v, values)         as K                                         f2, f4, f8
  //  Q (q, queries)        [W][d] or [G][W][d] beside K [n][d],         f2, f4, f8
  //                        [H*G][W][d] or [H][G][W][d] beside K [H][n][d], [S][H*G][W][d] beside K [S][H][n][d]
  //  positions             [n], or as K without d                       i4, i8
  //  log_weight            [n], or as K without d                       f2, f4, f8
  // K and V are required. What is not known by name is listed in unused(). Throws Error that names file and array.
  explicit HeadArrays(const ArrayFile& file);

  const std::vector<std::string>& unused() const { return unused_; }
  // Shape of everything that there is one of per head: [], [H] or [S][H].
  const std::vector<size_t>& head_shape() const { return head_shape_; }
  size_t sequences() const { return sequences_; }
  size_t kv_heads() const { return kv_heads_; }
  size_t tokens() const { return tokens_; }
  int head_dim() const { return static_cast<int>(head_dim_); }
  int group() const { return static_cast<int>(group_); }
  size_t queries() const { return window_; }

  // The arrays of one head, and which head it is; the rest of the input is left as it is by default.
  SelectInput head(size_t sequence, size_t kv_head) const;
  // Rows [n][d] of its values; position of its row i.
  std::span<const float> values(size_t sequence, size_t kv_head) const;
  int32_t position(size_t sequence, size_t kv_head, size_t row) const;

 private:
  void read_keys(NpyArray array);
  void read_queries(const NpyArray& array);
  template <typename T>
  void read_per_token(const NpyArray& array, const std::vector<T>& numbers, std::vector<T>& out);
  size_t head_index(size_t sequence, size_t kv_head) const { return sequence * kv_heads_ + kv_head; }

  std::vector<std::string> unused_;
  std::vector<size_t> head_shape_;
  std::string keys_name_;
  std::vector<size_t> keys_shape_;
  size_t sequences_ = 1, kv_heads_ = 1, tokens_ = 0, head_dim_ = 0, group_ = 1, window_ = 0;
  std::vector<float> keys_, values_;  // [S][H][n][d]
  std::vector<float> queries_;        // [S][H][W][G][d]
  std::vector<int32_t> positions_;    // empty or [S][H][n]
  std::vector<float> log_weight_;     // empty or [S][H][n]
};

}  // namespace vase::cli
