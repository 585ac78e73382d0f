#include "policies/arrays/check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "vase/error.h"

namespace vase {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, "select: " + message); }

std::string number(double x) { return std::isnan(x) ? "NaN" : x < 0 ? "-infinity" : "infinity"; }

// `array` [rows of `width`]; names the first number that is not finite by its axes.
void check_finite(const char* name, std::span<const float> array, size_t width) {
  const auto bad = std::find_if_not(array.begin(), array.end(), [](float x) { return std::isfinite(x); });
  if (bad == array.end()) return;
  const size_t at = bad - array.begin();
  std::string index = std::to_string(at / width);
  if (width > 1) index += "][" + std::to_string(at % width);
  fail(std::string(name) + "[" + index + "] is " + number(*bad) + "; every number must be finite");
}

void check_range(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  fail(std::string(name) + " is " + std::to_string(value) + "; allowed: " + std::to_string(least) + " to " +
       std::to_string(most));
}

void check_numbers(const SelectInput& input) {
  check_range("head_dim", input.head_dim, 1, 65536);
  check_range("group", input.group, 1, 65536);
  check_range("buffer", input.buffer, 1, 1 << 24);
  check_range("prompt_tokens", input.prompt_tokens, 0, INT32_MAX);
  check_range("layer", input.layer, 0, 65535);
  check_range("kv_head", input.kv_head, 0, 4095);
}

// Returns n.
size_t check_sizes(const SelectInput& input) {
  const size_t width = input.head_dim, rows = input.keys.size() / width;
  const auto rows_of = [&](const char* name, std::span<const float> array) {
    if (!array.empty() && array.size() % width == 0) return;
    fail(std::string(name) + " holds " + std::to_string(array.size()) + " numbers; allowed: rows of head_dim = " +
         std::to_string(width) + ", at least one");
  };
  const auto equal = [&](const char* name, size_t size) {
    if (size == rows) return;
    fail(std::string(name) + " has " + std::to_string(size) + " rows, keys has " + std::to_string(rows) +
         "; they must be equal");
  };
  rows_of("keys", input.keys);
  rows_of("values", input.values);
  equal("values", input.values.size() / width);
  if (rows > (1u << 24)) fail("keys has " + std::to_string(rows) + " rows; at most 16777216 are allowed");
  if (!input.positions.empty()) equal("positions", input.positions.size());
  if (!input.log_weight.empty()) equal("log_weight", input.log_weight.size());
  if (input.queries.size() % (width * input.group) != 0) {
    fail("queries holds " + std::to_string(input.queries.size()) +
         " numbers; allowed: a multiple of group x head_dim = " + std::to_string(width * input.group));
  }
  return rows;
}

void check_positions(const Policy& policy, const SelectInput& input) {
  const std::span<const int32_t> all = input.positions;
  if (all.empty()) return;
  const auto name = [&](size_t i) { return "positions[" + std::to_string(i) + "]"; };
  const size_t first = policy.order == Order::kScore ? all.size() - std::min<size_t>(input.buffer, all.size()) : 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] == INT32_MAX)
      fail(name(i) + " is " + std::to_string(all[i]) + "; allowed: 0 to 2147483646");
    if (i <= first || all[i] > all[i - 1]) continue;
    fail(name(i) + " = " + std::to_string(all[i]) + " follows " + std::to_string(all[i - 1]) +
         "; positions must rise (candidates of a policy with order=score may stand in any order)");
  }
  std::vector<int32_t> sorted(all.begin(), all.begin() + first);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail("position " + std::to_string(*twice) + " comes twice; each token has one row");
  if (!sorted.empty() && first < all.size() && sorted.back() >= all[first]) {
    fail("candidate position " + std::to_string(sorted.back()) + " is not older than the buffer, which begins at " +
         std::to_string(all[first]) + "; the newest tokens come last");
  }
}

// Queries belong to the newest tokens, so there are no more of them than tokens.
void check_queries(const Policy& policy, const SelectInput& input, const PolicyNeeds& needs, size_t rows) {
  const int64_t seen = (input.positions.empty() ? int64_t(rows) - 1 : input.positions.back()) + 1;
  const int64_t count = input.queries.size() / (size_t(input.head_dim) * input.group);
  if (count > seen) {
    fail("queries holds " + std::to_string(count) + " tokens; only " + std::to_string(seen) + " were seen");
  }
  if (count == 0 && (needs.attention != AttentionRecord::kNone || needs.queries > 0)) {
    fail("'" + policy.text() + "' looks at queries; give queries [W][G][d], best of the newest " +
         std::to_string(std::max(needs.queries, input.buffer)) + " tokens");
  }
}

void check_rope(const Policy& policy, const SelectInput& input, const PolicyNeeds& needs) {
  const std::span<const float> frequencies = input.rope.frequencies;
  if (needs.rope && frequencies.empty()) {
    fail("'" + policy.text() + "' turns keys back; give the frequencies of RoPE, or its base");
  }
  if (frequencies.size() * 2 > size_t(input.head_dim)) {
    fail("RoPE has " + std::to_string(frequencies.size()) + " frequencies; at most head_dim / 2 = " +
         std::to_string(input.head_dim / 2) + " are allowed");
  }
  check_finite("rope.frequencies", frequencies, 1);
  if (!(input.rope.magnitude > 0) || !std::isfinite(input.rope.magnitude)) {
    fail("the magnitude of RoPE is " + std::to_string(input.rope.magnitude) + "; it must be finite and above 0");
  }
}

}  // namespace

void check_select_input(const Policy& policy, const SelectInput& input) {
  if (!policy.evicts()) fail("the policy '" + policy.text() + "' never evicts; name another one");
  check_numbers(input);
  const size_t rows = check_sizes(input);
  policy.validate(input.budget, input.buffer);
  if (rows < size_t(input.budget)) {
    fail("keys has " + std::to_string(rows) + " rows, which fit into the budget of " + std::to_string(input.budget) +
         "; give a smaller budget or more rows");
  }
  check_finite("keys", input.keys, input.head_dim);
  check_finite("values", input.values, input.head_dim);
  check_finite("queries", input.queries, input.head_dim);
  check_finite("log_weight", input.log_weight, 1);
  check_positions(policy, input);
  const PolicyNeeds needs = policy.needs();
  check_queries(policy, input, needs, rows);
  check_rope(policy, input, needs);
  policy.check({.layers = std::max(input.layers, input.layer + 1),
                .kv_heads = std::max(input.kv_heads, input.kv_head + 1),
                .group = input.group,
                .head_dim = input.head_dim});
}

}  // namespace vase
