#include "text/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "vase/error.h"

namespace vase::text {
namespace {

struct Result {
  std::string text;
  bool stopped;
  bool operator==(const Result&) const = default;
};

// Gives the bytes in two pieces cut at `cut`, or one byte at a time when cut is npos. Every piece that comes out must
// be valid UTF-8 by itself.
Result stream(const std::vector<std::string>& stops, std::string_view bytes, size_t cut) {
  TextStream stream(stops);
  std::string text;
  const auto push = [&](std::string_view piece) {
    const std::string out = stream.push(piece);
    EXPECT_EQ(find_invalid_utf8(out), std::string::npos) << out;
    text += out;
  };
  if (cut == std::string_view::npos) {
    for (const char& byte : bytes) push({&byte, 1});
  } else {
    push(bytes.substr(0, cut));
    push(bytes.substr(cut));
  }
  text += stream.finish();
  return {text, stream.stopped()};
}

// The same result for every cut.
void expect_stream(const std::vector<std::string>& stops, std::string_view bytes, const Result& want) {
  for (size_t cut = 0; cut <= bytes.size(); ++cut) EXPECT_EQ(stream(stops, bytes, cut), want) << "cut at " << cut;
  EXPECT_EQ(stream(stops, bytes, std::string_view::npos), want) << "byte by byte";
}

void PrintTo(const Result& r, std::ostream* out) { *out << "'" << r.text << "'" << (r.stopped ? " stopped" : ""); }

TEST(TextStream, CharactersSplitOverTokensStayWhole) {
  for (const char* text : {"ь", "界", "😀", "👨‍👩‍👧", "aь界😀b", "\u00e9\u0301"}) expect_stream({}, text, {text, false});
  for (const char* text : {"ь", "界", "😀", "👨‍👩‍👧"}) expect_stream({"END"}, text, {text, false});
}

TEST(TextStream, StopStringOverSeveralPiecesDoesNotLeak) {
  expect_stream({"own fox"}, "The quick brown fox jumps", {"The quick br", true});
  TextStream s({"own fox"});
  EXPECT_EQ(s.push("The quick bro"), "The quick br");
  EXPECT_EQ(s.push("w"), "");
  EXPECT_EQ(s.push(" "), "ow ");  // not the stop after all
}

TEST(TextStream, SeveralStops) {
  expect_stream({"\n", "Alice:"}, " Alice!", {" Alice!", false});
  expect_stream({"a1", "b2", "c3", "d4", "e5"}, "xx d4 b2", {"xx ", true});
  expect_stream({"stop"}, "stop here", {"", true});
}

TEST(TextStream, TheStopThatIsCompleteFirstCounts) {
  expect_stream({"abcd", "bc"}, "xabcdy", {"xa", true});
  expect_stream({"bc", "abc"}, "xabcdy", {"x", true});  // complete at the same byte: the longest
}

TEST(TextStream, RepetitiveStops) {
  expect_stream({"aab"}, "aaaab", {"aa", true});
  expect_stream({"abab"}, "abaabab", {"aba", true});
  expect_stream({"aa"}, "a", {"a", false});
}

TEST(TextStream, StopWithinMultibyteText) {
  expect_stream({"界"}, "世界", {"世", true});
  expect_stream({"\xE7\x95\x8C"}, "\xE7\x95\x8D", {"\xE7\x95\x8D", false});  // shares two bytes with the stop
}

TEST(TextStream, BytesThatAreNoCharacterBecomeReplacements) {
  expect_stream({}, "a\xFFz", {"a\uFFFDz", false});
  expect_stream({}, "a\xE7\x95", {"a\uFFFD", false});          // the end of the text cuts a character
  expect_stream({}, "\xED\xA0\x80", {"\uFFFD\uFFFD\uFFFD", false});  // a surrogate
  expect_stream({"!"}, "a\xE7!", {"a\uFFFD", true});
}

TEST(TextStream, NothingAfterTheStop) {
  TextStream s({"x"});
  EXPECT_EQ(s.push("ax"), "a");
  EXPECT_EQ(s.push("b"), "");
  EXPECT_EQ(s.finish(), "");
}

TEST(TextStream, HoldsBackNoMoreThanTheLongestStop) {
  TextStream s({"aaaaaaab"});
  size_t shown = 0;
  for (size_t i = 1; i <= 1000; ++i) {
    shown += s.push("a").size();
    EXPECT_LE(i - shown, 7u);
  }
}

TEST(TextStream, RefusesStopsThatCanNotWork) {
  EXPECT_THROW(TextStream({""}), Error);
  EXPECT_THROW(TextStream({"a", ""}), Error);
  EXPECT_THROW(TextStream({"\xFF"}), Error);
}

TEST(Utf8, FindsTheFirstInvalidSequence) {
  EXPECT_EQ(find_invalid_utf8(""), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("a\u00e9\u754c\U0001F600"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xFFz"), 2u);
  EXPECT_EQ(find_invalid_utf8("a\x80"), 1u);              // continuation without lead
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0u);           // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u);       // overlong
  EXPECT_EQ(find_invalid_utf8("z\xED\xA0\x80"), 1u);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);   // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("ab\xE7\x95"), 2u);         // cut short
}

}  // namespace
}  // namespace vase::text
