// How many columns (tokens) a matrix product must be given so that the result of each is the same, bit for
// bit, whatever the others are and however many there are. ggml picks kernels by the number of columns, and
// some of them add in another order; a sequence's text must not depend on its neighbours in the batch.
#pragma once

struct ggml_tensor;

namespace vase::model {

struct ColumnRule {
  int least = 1;            // pad to at least this many columns
  int multiple = 1;         // pad to a multiple of this
  bool one_by_one = false;  // multiply by [K, 1, n] instead of [K, n]: every column takes the kernel for one

  int padded(int columns) const;
  // Padding that suits both.
  void join(const ColumnRule& other);
};

// Rule for a weight in its buffer. tests/model/batch_invariance_test.cc holds it against the kernels of the
// machine.
ColumnRule column_rule(const ggml_tensor* weight);

}  // namespace vase::model
