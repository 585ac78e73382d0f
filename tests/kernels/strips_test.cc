// Quantised rows in strips against ggml's own quantisers.
#include "kernels/strips/strips.h"

#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "filled_strips.h"
#include "kernels/on_every_target.h"
#include "kernels/strips/mixing.h"

namespace vase::kernels {
namespace {

template <class Check>
void for_every_kind(Check check) {
  for (const StripKind kind : {StripKind::kKeys, StripKind::kValues}) {
    for (const CodeBits bits : {CodeBits::k8, CodeBits::k4}) {
      SCOPED_TRACE((kind == StripKind::kKeys ? "keys of " : "values of ") +
                   std::string(bits == CodeBits::k8 ? "8" : "4") + " bits");
      check(kind, bits);
    }
  }
}

// What ggml makes of a row.
std::vector<float> by_ggml(ggml_type type, const std::vector<float>& row) {
  const auto width = static_cast<int64_t>(row.size());
  std::vector<std::byte> bytes(ggml_row_size(type, width));
  ggml_quantize_chunk(type, row.data(), bytes.data(), 0, 1, width, nullptr);
  std::vector<float> back(row.size());
  ggml_get_type_traits(type)->to_float(bytes.data(), back.data(), width);
  return back;
}

TEST(Strips, EightBitsHoldTheNumbersOfGgml) {
  for (const StripKind kind : {StripKind::kKeys, StripKind::kValues}) {
    for (const int width : kStripWidths) {
      std::vector<std::byte> bytes(3 * strip_bytes(CodeBits::k8, width));
      const Strips strips{bytes.data(), kind, CodeBits::k8, width};
      for (int slot = 0; slot < 3 * kStripSlots; ++slot) {
        const std::vector<float> row = normals(width, slot, std::ldexp(1.0f, slot % 30 - 18));
        store_in_strips(strips, slot, row.data());
        ASSERT_EQ(read(strips, slot), by_ggml(GGML_TYPE_Q8_0, row)) << "width " << width << ", slot " << slot;
      }
    }
  }
}

TEST(Strips, MixingIsTheMatrixAndItsOwnInverse) {
  const std::vector<float> row = normals(32, 1);
  std::vector<float> mixed = row;
  mix_block(mixed.data());
  const std::vector<float> expected = mixed_by_matrix(row);
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(mixed[i], expected[i], 1e-6) << i;
  mix_block(mixed.data());
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(mixed[i], row[i], 1e-6) << i;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  return sum;
}

TEST(Strips, FourBitsComeNearerThanThoseOfGgml) {
  for (const StripKind kind : {StripKind::kKeys, StripKind::kValues}) {
    for (const int width : kStripWidths) {
      std::vector<std::byte> bytes(3 * strip_bytes(CodeBits::k4, width));
      const Strips strips{bytes.data(), kind, CodeBits::k4, width};
      double ours = 0, mixed = 0, plain = 0;  // of rows of one size
      for (int slot = 0; slot < 3 * kStripSlots; ++slot) {
        std::vector<float> row = normals(width, slot);
        for (int c = 5; c < width; c += kStripBlock) row[c] *= 8;  // a channel that is far larger than others
        store_in_strips(strips, slot, row.data());
        const std::vector<float> turned = mixed_by_matrix(row);
        const double error = squared_error(read(strips, slot), row);
        const double theirs = squared_error(by_ggml(GGML_TYPE_Q4_0, turned), turned);
        EXPECT_LE(error, theirs * 1.001) << "width " << width << ", slot " << slot;
        ours += error;
        mixed += theirs;
        plain += squared_error(by_ggml(GGML_TYPE_Q4_0, row), row);
      }
      EXPECT_LT(ours, 0.95 * mixed) << width;
      EXPECT_LT(ours, 0.6 * plain) << width;
    }
  }
}

TEST(Strips, FourBitsHoldWhatIsAMultipleOfTheScale) {
  std::vector<float> mixed(32);
  for (int i = 0; i < 32; ++i) mixed[i] = 0.25f * static_cast<float>(i % 16 - 8);
  const std::vector<float> row = mixed_by_matrix(mixed);
  for (const StripKind kind : {StripKind::kKeys, StripKind::kValues}) {
    std::vector<std::byte> bytes(strip_bytes(CodeBits::k4, 32));
    const Strips strips{bytes.data(), kind, CodeBits::k4, 32};
    store_in_strips(strips, 7, row.data());
    const std::vector<float> back = read(strips, 7);
    for (int i = 0; i < 32; ++i) EXPECT_NEAR(back[i], row[i], 1e-5) << i;
  }
}

TEST(Strips, NothingStaysNothing) {
  for_every_kind([](StripKind kind, CodeBits bits) {
    std::vector<std::byte> bytes(strip_bytes(bits, 64));
    const Strips strips{bytes.data(), kind, bits, 64};
    for (const float tiny : {0.0f, 1e-42f}) {
      store_in_strips(strips, 2, std::vector<float>(64, tiny).data());
      EXPECT_EQ(read(strips, 2), std::vector<float>(64, 0.0f)) << tiny;
    }
  });
}

TEST(Strips, WholeStripsAreDecodedAsRowsAre) {
  for_every_kind([](StripKind kind, CodeBits bits) {
    for (const int width : {32, 96, 128}) {
      for (const int slots : {1, 16, 37}) {
        const Filled filled(kind, bits, width, slots, width + slots);
        const size_t stride = width + 5;
        on_every_target([&] {
          std::vector<float> all(slots * stride + 5, -1.0f);
          decode_strips(Path::kFused, filled.strips, slots, all.data(), stride);
          for (int s = 0; s < slots; ++s) {
            const std::vector<float> row(all.begin() + s * stride, all.begin() + s * stride + width);
            ASSERT_EQ(row, read(filled.strips, s)) << s;
            ASSERT_EQ(all[s * stride + width], -1) << "wrote behind row " << s;
          }
        });
      }
    }
  });
}

TEST(Strips, ABlockWithANumberThatIsNotFiniteIsNaN) {
  for_every_kind([](StripKind kind, CodeBits bits) {
    std::vector<std::byte> bytes(strip_bytes(bits, 64));
    const Strips strips{bytes.data(), kind, bits, 64};
    std::vector<float> row(64, 1.0f);
    row[40] = std::numeric_limits<float>::infinity();
    store_in_strips(strips, 3, row.data());
    const std::vector<float> back = read(strips, 3);
    for (int c = 0; c < 64; ++c) EXPECT_EQ(std::isnan(back[c]), c >= 32) << c;
  });
}

TEST(Strips, MovingARowChangesNoOther) {
  for_every_kind([](StripKind kind, CodeBits bits) {
    Filled filled(kind, bits, 96, 40, 1);
    std::vector<std::vector<float>> before;
    for (int s = 0; s < 40; ++s) before.push_back(read(filled.strips, s));
    move_in_strips(filled.strips, 37, 2);
    move_in_strips(filled.strips, 20, 21);
    before[2] = before[37];
    before[21] = before[20];
    for (int s = 0; s < 40; ++s) ASSERT_EQ(read(filled.strips, s), before[s]) << s;
  });
}

}  // namespace
}  // namespace vase::kernels
