// Labels of failed texts, at the edges of every rule.
#include "eval/failure_label.h"

#include <gtest/gtest.h>

#include <string>

namespace vase::eval {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// Different words, so that no rule fires.
std::string prose(int words) {
  std::string out;
  for (int i = 0; i < words; ++i) out += "word" + std::to_string(i * i + 7) + " ";
  return out;
}

TEST(FailureLabel, Fine) {
  EXPECT_EQ(label_name(failure_label(prose(200), true)), "ok");
  EXPECT_EQ(failure_label("4", true), FailureLabel::kOk);
  EXPECT_EQ(failure_label("", true), FailureLabel::kOk);
}

TEST(FailureLabel, GarbageFromMoreThan30OtherCharactersInTheLast100) {
  const std::string other = "\xC3\xA9";  // one character of two bytes
  const auto text = [&](int others) {
    std::string tail;
    for (int i = 0; i < 100; ++i) tail += i < others ? other : std::string(1, char('a' + i % 26));
    return prose(100) + tail;
  };
  EXPECT_EQ(failure_label(text(30), true), FailureLabel::kOk);
  EXPECT_EQ(failure_label(text(31), true), FailureLabel::kGarbage);
  EXPECT_EQ(failure_label(text(31) + "x", true), FailureLabel::kOk);  // one of them has left the last 100
  EXPECT_EQ(failure_label(prose(100) + repeated("\xFF", 31), true), FailureLabel::kGarbage);  // no UTF-8 at all
}

TEST(FailureLabel, GarbageFromOneCharacterMoreThan100TimesInTheLast200) {
  const auto text = [](int times) {
    std::string tail = repeated("!", times);
    for (int i = 0; i < 200 - times; ++i) tail += char('a' + (i * i + i / 26) % 26);
    return tail;
  };
  EXPECT_EQ(failure_label(text(101), true), FailureLabel::kGarbage);
  EXPECT_EQ(failure_label(text(101) + "x", true), FailureLabel::kLoop);  // 100 in the last 200, which still are a loop
  EXPECT_EQ(failure_label("!!!!", true), FailureLabel::kOk);             // all of a short text is not much
}

TEST(FailureLabel, LoopOfTenToFortyCharactersFiveTimes) {
  const std::string ten = "0123456789", forty = "The quick brown fox jumps over lazy dogs";
  ASSERT_EQ(forty.size(), 40u);
  EXPECT_EQ(failure_label("so " + repeated(ten, 5) + " end", true), FailureLabel::kLoop);
  EXPECT_EQ(failure_label("so " + repeated(ten, 4) + "012345678 end", true), FailureLabel::kOk);
  EXPECT_EQ(failure_label("so " + repeated(forty, 5) + " end", true), FailureLabel::kLoop);
  EXPECT_EQ(failure_label("so " + repeated(forty + "!", 5) + " end", true), FailureLabel::kOk);
  EXPECT_EQ(failure_label(repeated("abcdefghi", 9), true), FailureLabel::kOk);       // 9 characters, 9 times
  EXPECT_EQ(failure_label(repeated("abcdefghi", 10), true), FailureLabel::kLoop);    // two of them are 18, 5 times
  EXPECT_EQ(failure_label(repeated(ten, 5) + prose(80), true), FailureLabel::kOk);   // longer ago than 500 characters
  EXPECT_EQ(failure_label(repeated("\xC3\xA9 is not e, ", 5) + "so", true),
            FailureLabel::kLoop);  // characters, not bytes
}

TEST(FailureLabel, TruncatedThinking) {
  EXPECT_EQ(failure_label("<think>Let me see. " + prose(20), true), FailureLabel::kTruncated);
  EXPECT_EQ(failure_label("<think>Let me see.</think> 4", true), FailureLabel::kOk);
  EXPECT_EQ(failure_label("Let me see.</think> 4", false), FailureLabel::kOk);  // the prompt had opened it
  EXPECT_EQ(failure_label(prose(20), false), FailureLabel::kTruncated);  // a model that does not mark its thinking
  EXPECT_EQ(label_name(failure_label(prose(20), false)), "truncated");
}

TEST(FailureLabel, OfATextThatIsOver) {
  for (const char* itself : {"eos", "stop"})
    EXPECT_EQ(label_of(prose(20), itself), FailureLabel::kOk) << itself;
  for (const char* cut : {"length", "context", "cancelled"})
    EXPECT_EQ(label_of(prose(20), cut), FailureLabel::kTruncated) << cut;
  EXPECT_EQ(label_of(repeated("0123456789", 9), "eos"), FailureLabel::kLoop);
  EXPECT_EQ(label_of(repeated(prose(99), 4), "repetition"),
            FailureLabel::kLoop);  // no rule of characters sees this one
  EXPECT_EQ(label_of(repeated("!", 512), "repetition"), FailureLabel::kLoop);
}

TEST(FailureLabel, ThinkingThatThePromptHasOpened) {
  EXPECT_EQ(failure_label("Let me see. " + prose(20), true, true), FailureLabel::kTruncated);
  EXPECT_EQ(failure_label("Let me see. " + prose(20), false, true), FailureLabel::kTruncated);
  EXPECT_EQ(failure_label("Let me see.</think> 4", true, true), FailureLabel::kOk);
}

TEST(FailureLabel, TheFirstThatHolds) {
  EXPECT_EQ(failure_label("<think>" + repeated("0123456789", 9), false), FailureLabel::kLoop);
  EXPECT_EQ(failure_label("<think>" + repeated("!", 300), false), FailureLabel::kGarbage);
}

}  // namespace
}  // namespace vase::eval
