// Bridges from a golden case to the policy interfaces: the head's view, the recorded draws, the policy's text.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "golden/golden_case.h"
#include "vase/policy.h"

namespace vase::golden {

// Relative limit for a float32 implementation against *_f64 (README of the vectors).
inline constexpr double kTolerance = 2e-5;

// Replays the draws that the reference recorded, by candidate index.
class RecordedDraws final : public RandomDraws {
 public:
  // prefix: "" or "e3."; a draw that the case does not hold must not be asked for.
  RecordedDraws(const Case& c, const std::string& prefix, int row, int head);
  void uniform(std::span<const int32_t> positions, std::span<float> out) override { replay(uniform_, positions, out); }
  void exponential(std::span<const int32_t> positions, std::span<float> out) override {
    replay(exponential_, positions, out);
  }
  void gaussian(bool, std::span<float> out) override;

 private:
  static void replay(const std::vector<float>& recorded, std::span<const int32_t> positions, std::span<float> out);
  std::vector<float> uniform_, exponential_, gaussian_;
};

// What one KV head holds of every token: rows of `width` numbers, and the range of each value.
struct TokenRows {
  int width = 0;
  std::vector<float> keys, values;  // [tokens][width]
  std::vector<float> range;         // [tokens]
};
// K and V of a (batch row, KV head).
TokenRows recorded_rows(const Case& c, int row, int head);

// One KV head of a case with candidates at given token indices; owns what its view points to.
class Head {
 public:
  // tokens: index into the rows of every candidate, in logical order; queries: [W * G][d].
  Head(const Case& c, std::vector<int> tokens, std::vector<float> queries, const TokenRows& rows, RowType type);
  Head(const Case& c, int row, int head, std::vector<int> tokens, std::vector<float> queries, RowType type)
      : Head(c, std::move(tokens), std::move(queries), recorded_rows(c, row, head), type) {}

  const HeadView& view() const { return view_; }

 private:
  RowsView stored(const std::vector<float>& rows, int width, RowType type, std::vector<std::byte>& store);

  std::vector<int32_t> positions_;
  std::vector<uint32_t> slots_;
  std::vector<std::byte> keys_, values_;
  std::vector<float> attention_, range_;
  HeadView view_;
};

// 0, 1, ... count - 1.
std::vector<int> first_tokens(int count);

// Rows of Q: the tokens first .. first + W - 1 of each of the G query heads.
std::vector<float> window_queries(const Case& c, int row, int head, int first);

// The policy that a reference mode stands for, without its order. Throws for a mode that has none.
std::string policy_text(const Case& c);

// The kept candidates of one eviction, in which every score is finite and all that is protected finds a place.
std::vector<uint32_t> plan(const std::string& text, const HeadView& view, RandomDraws& draws, PlanTrace* trace = nullptr);

}  // namespace vase::golden
