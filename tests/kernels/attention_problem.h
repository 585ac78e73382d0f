// A slot-attention call on random data, laid out the hard way: NaN wherever the kernel must not read,
// sentinels wherever it must not write, any alignment that the contract allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels {

struct ProblemShape {
  int head_dim = 64;
  int group = 4;
  int tokens = 1;
  int slots_before = 0;
  RowType k_type = RowType::kF16, v_type = RowType::kF16;
  bool strided = false;     // rows further apart than they are long
  bool misaligned = false;  // base aligned to one element only
  bool log_weight = false;
  int older = 0;  // older slots
  bool older_keys_in_strips = true, older_values_in_strips = true;  // else rows of k_type, v_type
  CodeBits older_key_bits = CodeBits::k8, older_value_bits = CodeBits::k4;
  int offset_pairs = 0;  // of channels whose constant part the older keys, in strips, are stored without
  bool mass = false;
  int candidates = 0;
  int first_token = 0;
  float temperature = 1;
  MassForm form = MassForm::kSum;
  float threshold = 0;  // of MassForm::kRecurrence
  // Bytes of free rows, of gaps between rows and of guards; all bits set is a NaN of every type.
  std::byte free_fill{0xff};
  uint32_t seed = 1;

  std::string describe() const;
};

class AttentionProblem {
 public:
  explicit AttentionProblem(const ProblemShape& shape);

  struct Result {
    std::vector<float> out;   // [token][head][head_dim]
    std::vector<float> mass;  // [older + candidates], empty without mass and for kRecurrence
    std::vector<int32_t> last_use, longest_gap;  // [older + candidates] of kRecurrence, else empty
  };

  // Fresh output, mass and scratch (filled with NaN); checks the guards afterwards.
  Result run(Path path) const;
  // The same with another threshold.
  Result run(Path path, float threshold) const;
  // Decode in pieces, the segments in the order given.
  Result run_pieces(Path path, const std::vector<int>& order) const;
  // The same run as `tokens` calls of one token each.
  Result run_token_by_token(Path path) const;

  const SlotAttentionArgs& args() const { return args_; }
  // Overwrites one element of a stored row (slot < slots).
  void set_key(int slot, int channel, float x) { keys_.set(slot, channel, x); }
  void set_value(int slot, int channel, float x) { values_.set(slot, channel, x); }
  float key(int slot, int channel) const;
  std::vector<float>& queries() { return queries_; }
  std::vector<float>& log_weights() { return log_weights_; }

 private:
  // Keys or values.
  struct StoredRows {
    StoredRows(const ProblemShape& shape, RowType type_in, int slots, uint32_t seed);
    void set(int slot, int channel, float x);
    void store(int slot);
    RowsView view(int width) const { return {bytes.data() + offset, stride, type, width, nullptr}; }

    RowType type;
    int head_dim;
    size_t stride, offset;
    std::vector<float> numbers;  // [slot][head_dim] before they are stored
    std::vector<std::byte> bytes;
  };

  // Older slots in strips.
  struct StoredStrips {
    StoredStrips(StripKind kind, CodeBits bits, int head_dim, int slots, uint32_t seed);
    std::vector<std::byte> bytes;
    Strips strips;
  };

  void add_older(const ProblemShape& shape);
  void add_key_offset(const ProblemShape& shape);
  template <class Call>
  Result collect(Call call) const;

  ProblemShape shape_;
  StoredRows keys_, values_;
  std::unique_ptr<StoredRows> older_key_rows_, older_value_rows_;
  std::unique_ptr<StoredStrips> older_keys_, older_values_;
  std::vector<float> queries_, log_weights_, older_log_weights_;
  KeyOffset key_offset_;
  std::vector<int32_t> older_positions_;
  SlotAttentionArgs args_;
};

// Largest relative L2 error of a query row, against the same row of `expected`. NaN anywhere gives infinity.
double worst_row_error(const std::vector<float>& actual, const std::vector<float>& expected, int head_dim);

}  // namespace vase::kernels
