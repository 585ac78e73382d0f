// The recorded evictions with rows that lie quantised in the cache: rows as their bytes say, choices as recorded where
// rounding has no part in them and nearly so where it has, and tokens that go on as they were.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "cache/slot_cache.h"
#include "golden/golden_head.h"

namespace vase::golden {
namespace {

// H x for the Walsh-Hadamard matrix H of a power of two, by its definition out of matrices of half the size.
std::vector<float> hadamard(const std::vector<float>& x) {
  if (x.size() == 1) return x;
  const size_t half = x.size() / 2;
  std::vector<float> sums(half), differences(half);
  for (size_t i = 0; i < half; ++i) sums[i] = x[i] + x[i + half], differences[i] = x[i] - x[i + half];
  std::vector<float> all = hadamard(sums);
  const std::vector<float> rest = hadamard(differences);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// One block of 32 numbers of a slot, from the bytes of its strip as docs/layouts.md, Quantised rows, describes them.
std::vector<float> plain_block(const kernels::Strips& strips, int slot, int block) {
  const bool keys = strips.kind == kernels::StripKind::kKeys, four = strips.bits == kernels::CodeBits::k4;
  const int blocks = strips.width / 32, inside = slot % 16, quad_bytes = keys ? 16 * 4 : 32 * 4;
  const int block_codes = four ? 256 : 512, scales = blocks * block_codes;
  const std::byte* const strip = strips.base + slot / 16 * (scales + blocks * 16 * 2);
  uint16_t half;
  std::memcpy(&half, strip + scales + (block * 16 + inside) * 2, sizeof half);
  std::vector<float> numbers;
  for (int channel = 0; channel < 32; ++channel) {
    const int quad = (keys ? channel : inside) / 4;
    const int in_quad = keys ? inside * 4 + channel % 4 : channel * 4 + inside % 4;
    const auto byte = static_cast<int>(strip[block * block_codes + (four ? quad / 2 : quad) * quad_bytes + in_quad]);
    const int code = !four ? byte : quad % 2 == 0 ? byte & 15 : byte >> 4;
    numbers.push_back(static_cast<float>(code - (four ? 8 : 128)) * from_half(half));
  }
  if (!four) return numbers;
  numbers = hadamard(numbers);
  for (float& x : numbers) x *= 0.17677669529663687f;  // 1 / sqrt(32)
  return numbers;
}

std::vector<float> plain_row(const kernels::Strips& strips, int slot) {
  std::vector<float> row;
  for (int block = 0; block < strips.width / 32; ++block) {
    const std::vector<float> numbers = plain_block(strips, slot, block);
    row.insert(row.end(), numbers.begin(), numbers.end());
  }
  return row;
}

struct RowTypes {
  RowType keys, values;
};

// The first `count` tokens in a cache of one head, the last of them not quantised yet.
class CachedHead {
 public:
  CachedHead(const TokenRows& rows, int count, RowTypes types)
      : rows_(rows),
        cache_({.layers = 1,
                .kv_heads = 1,
                .head_dim = rows.width,
                .capacity = count + kRecent,
                .key_type = types.keys,
                .value_type = types.values,
                .recent = kRecent,
                .needs = {.value_range = true}},
               true),
        scratch_(count + kRecent) {
    for (int t = 0; t < count; ++t) {
      if (head().recent_room() == 0) head().settle(kStay);
      head().append(t, &rows.keys[size_t(t) * rows.width], &rows.values[size_t(t) * rows.width]);
    }
  }

  // By token, as the cache decodes them for a policy.
  TokenRows read() {
    const size_t width = rows_.width;
    TokenRows by_slot = empty(cache_.shape().capacity), by_token = empty(head().used());
    head().read_keys(by_slot.keys.data(), width);
    head().read_values(by_slot.values.data(), width);
    for (const uint32_t slot : head().order()) {
      const size_t token = head().position(slot);
      std::copy_n(&by_slot.keys[slot * width], width, &by_token.keys[token * width]);
      std::copy_n(&by_slot.values[slot * width], width, &by_token.values[token * width]);
      by_token.range[token] = head().value_range()[slot];
    }
    return by_token;
  }

  // By token: strips decoded from their bytes, and what has not been quantised as it was recorded.
  TokenRows decode_plainly() {
    TokenRows plain = empty(head().used());
    for (const uint32_t slot : head().order()) {
      const int token = head().position(slot);
      const auto put = [&](const kernels::PartRows& part, const std::vector<float>& recorded, std::vector<float>& to) {
        const auto begin = recorded.begin() + ptrdiff_t(token) * rows_.width;
        const bool older = static_cast<int>(slot) < head().older_used();
        const auto row = older ? plain_row(part.strips, slot) : std::vector<float>(begin, begin + rows_.width);
        std::ranges::copy(row, to.begin() + ptrdiff_t(token) * rows_.width);
      };
      put(head().older_keys(), rows_.keys, plain.keys);
      put(head().older_values(), rows_.values, plain.values);
      plain.range[token] = rows_.range[token];
    }
    return plain;
  }

  // The tokens that are held afterwards, in logical order.
  std::vector<uint32_t> evict(const std::vector<uint32_t>& kept) {
    head().apply({kept, head().used()}, scratch_);
    std::vector<uint32_t> tokens;
    for (const uint32_t slot : head().order()) tokens.push_back(head().position(slot));
    return tokens;
  }

  std::vector<float> key(int index) {
    std::vector<float> row(rows_.width);
    head().read_key(head().order()[index], row.data());
    return row;
  }

 private:
  static constexpr int kRecent = 16, kStay = 8;

  HeadSlots head() { return cache_.head(0, 0, 0); }
  TokenRows empty(int count) const {
    const size_t numbers = size_t(count) * rows_.width;
    return {rows_.width, std::vector<float>(numbers), std::vector<float>(numbers), std::vector<float>(count)};
  }

  const TokenRows& rows_;
  SlotCache cache_;
  CompactionScratch scratch_;
};

// How much of the recorded choices came out.
struct Agreement {
  int cases = 0, exact = 0;       // cases; those that rounding has no part in
  size_t choices = 0, equal = 0;  // kept candidates where it has a part; those among them that were recorded as kept
};

void check_head(const Case& c, int row, int head, RowTypes types, bool exact, Agreement& agreement) {
  const TokenRows recorded = recorded_rows(c, row, head);
  CachedHead cached(recorded, c.param("C"), types);
  const TokenRows rows = cached.read(), plain = cached.decode_plainly();
  ASSERT_EQ(rows.keys, plain.keys);  // so a policy sees what the bytes say, bit for bit
  ASSERT_EQ(rows.values, plain.values);
  ASSERT_EQ(rows.range, plain.range);

  const Head input(c, first_tokens(c.param("C")), window_queries(c, row, head, 0), rows, RowType::kF32);
  RecordedDraws draws(c, "", row, head);
  const std::vector<uint32_t> kept = plan(policy_text(c) + " order=position", input.view(), draws);
  auto want = c["kept_order"].row<uint32_t>(row, head);
  std::ranges::sort(want);
  if (exact) {
    ASSERT_EQ(kept, want);
  } else {
    std::vector<uint32_t> both;
    std::ranges::set_intersection(kept, want, std::back_inserter(both));
    agreement.choices += kept.size();
    agreement.equal += both.size();
  }
  ASSERT_EQ(cached.evict(kept), kept);
  const int width = recorded.width, steady = c.param("C") - 16;  // tokens below had been quantised before
  for (size_t i = 0; i < kept.size() && static_cast<int>(kept[i]) < steady; ++i) {
    const auto begin = rows.keys.begin() + ptrdiff_t(kept[i]) * width;
    ASSERT_EQ(cached.key(static_cast<int>(i)), std::vector<float>(begin, begin + width)) << "token " << kept[i];
  }
}

Agreement check_cases(RowTypes types) {
  Agreement agreement;
  for (const std::string& name : cases("evict/")) {
    SCOPED_TRACE(name);
    const Case c(name);
    const PolicyNeeds needs = Policy::parse(policy_text(c)).needs();
    // Ranges come from rows as they came in.
    const bool exact = !needs.rows && !needs.row_blocks && needs.attention == AttentionRecord::kNone;
    ++agreement.cases;
    agreement.exact += exact;
    for (int row = 0; row < c.param("B"); ++row) {
      for (int head = 0; head < c.param("H"); ++head) check_head(c, row, head, types, exact, agreement);
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return agreement;
}

void expect_recorded(RowTypes types, double share) {
  const Agreement agreement = check_cases(types);
  EXPECT_EQ(agreement.cases, 101);
  EXPECT_EQ(agreement.exact, 10);
  EXPECT_GT(static_cast<double>(agreement.equal), share * static_cast<double>(agreement.choices))
      << agreement.equal << " of " << agreement.choices;
}

TEST(GoldenCache, EightBits) {
  VASE_SKIP_WITHOUT_GOLDEN();
  expect_recorded({RowType::kQ8_0, RowType::kQ8_0}, 0.999);
}

TEST(GoldenCache, FourBits) {
  VASE_SKIP_WITHOUT_GOLDEN();
  expect_recorded({RowType::kQ4_0, RowType::kQ4_0}, 0.995);
}

TEST(GoldenCache, EightBitKeysAndFourBitValues) {
  VASE_SKIP_WITHOUT_GOLDEN();
  expect_recorded({RowType::kQ8_0, RowType::kQ4_0}, 0.999);
}

}  // namespace
}  // namespace vase::golden
