// When a text counts as a loop: at every period to the token, and what is legal.
#include "engine/loop_detector.h"

#include <gtest/gtest.h>

#include "vase/error.h"

namespace vase {
namespace {

using Tokens = std::vector<int32_t>;

// Different tokens, so that nothing repeats; from `first` on.
Tokens different(int count, int32_t first) {
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(first + i);
  return tokens;
}

Tokens operator*(const Tokens& block, int times) {
  Tokens tokens;
  for (int i = 0; i < times; ++i) tokens.insert(tokens.end(), block.begin(), block.end());
  return tokens;
}

Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// How many tokens had been read when the detector first called it a loop; 0: never.
size_t stopped_at(const Tokens& text, int repeats) {
  LoopDetector detector(repeats);
  for (size_t count = 1; count <= text.size(); ++count) {
    if (detector.ends_in_loop(std::span(text).first(count))) return count;
  }
  return 0;
}

const Tokens kIntroduction = different(100, 100000);

// Field report 66. Short blocks come until they fill 512 tokens, long ones as often as asked.
TEST(LoopDetector, StopsAtTheTokenThatCompletesTheLoop) {
  struct Case {
    int period, repeats;
    size_t wanted;
  };
  for (const auto& [period, repeats, wanted] : std::vector<Case>{{1, 4, 512},
                                                                 {7, 4, 512},
                                                                 {127, 4, 512},
                                                                 {128, 4, 512},
                                                                 {129, 4, 516},
                                                                 {200, 3, 600},
                                                                 {1840, 4, 7360},
                                                                 {2048, 3, 6144},
                                                                 {1, 1000, 1000}}) {
    const Tokens loop = different(period, 0) * (static_cast<int>(wanted) / period + 2);
    EXPECT_EQ(stopped_at(kIntroduction + loop, repeats), kIntroduction.size() + wanted)
        << period << ", " << repeats;
    EXPECT_EQ(stopped_at(loop, repeats), wanted) << period << ": nothing before it";
  }
}

TEST(LoopDetector, ALoopMayBeginAnywhereInItsBlock) {
  const Tokens block = different(92 * 20, 0);
  const Tokens text = kIntroduction + Tokens(block.begin() + 700, block.end()) + block * 4;
  EXPECT_EQ(stopped_at(text, 4), kIntroduction.size() + 4 * block.size());
}

TEST(LoopDetector, NearMissesGoOn) {
  for (const int period : {1, 7, 200, 1840}) {
    const Tokens block = different(period, 0);
    const int times = std::max(4, 512 / period + 1);
    Tokens text = block * times;
    text.resize(std::max(4 * period, 512) - 1);
    EXPECT_EQ(stopped_at(text + kIntroduction, 4), 0u) << period << ": one token is missing";
    text = block * times;
    text[text.size() - std::max(4 * period, 512) / 2] = -1;
    EXPECT_EQ(stopped_at(text, 4), 0u) << period << ": another token in the middle";
  }
  EXPECT_EQ(stopped_at(different(2049, 0) * 4, 4), 0u) << "longer than any period";
}

// A counter changes with every line, as in "step 1 of the list, step 2 of the list".
TEST(LoopDetector, LegalRepeatsGoOn) {
  EXPECT_EQ(stopped_at(different(1, 7) * 3 + kIntroduction, 3), 0u) << "ha ha ha";
  const Tokens row = different(1, 50) + different(2, 60) * 10;  // "|" and ten times " 0 |"
  EXPECT_EQ(stopped_at(row * 20 + kIntroduction, 3), 0u) << "20 rows of 10 zeros";
  Tokens list;
  for (int i = 0; i < 500; ++i) list = list + different(9, 0) + Tokens{1000 + i};
  EXPECT_EQ(stopped_at(list, 3), 0u);
}

TEST(LoopDetector, OffNeverLooks) { EXPECT_EQ(stopped_at(different(1, 0) * 10000, 0), 0u); }

TEST(LoopDetector, RefusesOtherNumbers) {
  for (const int repeats : {-1, 1, 2, 1001}) {
    try {
      LoopDetector detector(repeats);
      ADD_FAILURE() << repeats;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      EXPECT_EQ(std::string(e.what()),
                "stop loops is " + std::to_string(repeats) + "; allowed: 0 (off), or 3 to 1000 repeats");
    }
  }
}

}  // namespace
}  // namespace vase
