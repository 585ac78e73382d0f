// Tests of programs as LiveCodeBench has them: plain, packed, and packed with malice.
#include "eval/sandbox/code_tests.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/sandbox/packed_text.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

// base64.b64encode(zlib.compress(pickle.dumps(TESTS, protocol))) of Python's, for protocols 2, 4 and 5.
constexpr const char* kTests = R"([{"input": "3 4\n", "output": "7\n", "testtype": "stdin"}, )"
                               R"({"input": "10 -2\n", "output": "8\n", "testtype": "stdin"}])";
constexpr const char* kPacked[] = {
    "eJxrYIooY2BgiK5WyswrKC1RslJQMlYwiclT0lFQyi8tgQqZQwRKUotLSioLUkFCxSUpmXlKtToKSDoNDRR0jdD1WuDUG1vIoAcANpklaA==",
    "eJxrYJlaxQABPWXR1UqZeQWlJUpWCkrGCiYxeUo6Ckr5pSVQIXOIQElqcUlJZUEqSKi4JCUzT6lWRwFJp6GBgq4Rul4LnHpjp+gBALZQJtA=",
    "eJxrYJ1axQABPWXR1UqZeQWlJUpWCkrGCiYxeUo6Ckr5pSVQIXOIQElqcUlJZUEqSKi4JCUzT6lWRwFJp6GBgq4Rul4LnHpjp+gBALbUJtE="};
// pickle.dumps of an object whose __reduce__ is (os.system, ("touch /tmp/evil",)); of ["a"]; the first 40 bytes of a
// good one.
constexpr const char* kEvil = "eJxrYJmqxQABPawF+cWZFVN62Iori0tSc6dMntLDX5JfmpyhoF+SW6CfWpaZM6V1StAUPQC1VBKM";
constexpr const char* kList = "eJxrYJnKwQABsVN6GBOnJOoBACKxBCQ=";
constexpr const char* kCut = "eJxrYJlaxQABPWXR1UqZeQWlJUpWCkrGCiYxeUo6Ckr5pSVAIQDMKAru";

std::string tests_text(const std::string& function, const std::string& open_tests, const std::string& hidden) {
  return nlohmann::json{{"function", function}, {"public", open_tests}, {"private", hidden}}.dump();
}

std::string error_of(const std::string& text) {
  try {
    parse_code_tests(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCorrupt);
    return e.what();
  }
  return "";
}

TEST(PackedText, PicklesOfOneText) {
  for (const char* packed : kPacked) EXPECT_EQ(unpack_text(packed), kTests);
}

TEST(PackedText, NothingElseIsRead) {
  for (const char* packed : {kEvil, kList, kCut}) EXPECT_THROW(unpack_text(packed), Error) << packed;
  for (const char* packed : {"", "=", "not base64!", "AAAA", "eJxrYJla", "eJwDAAAAAAE="}) {
    EXPECT_THROW(unpack_text(packed), Error) << packed;
  }
}

TEST(PackedText, CutAnywhereIsRefused) {
  const std::string whole = kPacked[1];
  for (size_t length = 0; length < whole.size() - 8; ++length)
    EXPECT_THROW(unpack_text(whole.substr(0, length)), Error) << length;
}

TEST(CodeTests, PublicOnesThenPrivateOnes) {
  const std::string one = R"([{"input": "a", "output": "b", "testtype": "stdin"}])";
  const CodeTests tests = parse_code_tests(tests_text("", one, kPacked[1]));
  ASSERT_EQ(tests.tests.size(), 3u);
  EXPECT_EQ(tests.tests[0].input, "a");
  EXPECT_EQ(tests.tests[1].input, "3 4\n");
  EXPECT_EQ(tests.tests[2].output, "8\n");
  EXPECT_EQ(tests.function, "");
  EXPECT_EQ(parse_code_tests(tests_text("", one, one)).tests.size(), 2u);  // not packed
  EXPECT_EQ(parse_code_tests(tests_text("", one, "")).tests.size(), 1u);
}

TEST(CodeTests, Functions) {
  const std::string one = R"([{"input": "1", "output": "2", "testtype": "functional"}])";
  EXPECT_EQ(parse_code_tests(tests_text("next", one, "")).function, "next");
  EXPECT_NE(error_of(tests_text("", one, "")).find("testtype"), std::string::npos);
}

TEST(CodeTests, MalformedOnes) {
  EXPECT_NE(error_of("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(error_of(tests_text("", "[]", "")).find("there are none"), std::string::npos);
  EXPECT_NE(error_of(tests_text("", "{}", "")).find("not a JSON list"), std::string::npos);
  EXPECT_NE(error_of(tests_text("", "[1]", "")).find("must be a JSON object"), std::string::npos);
  EXPECT_NE(error_of(tests_text("", R"([{"input": 1, "output": "", "testtype": "stdin"}])", "")).find("\"input\""),
            std::string::npos);
  EXPECT_NE(error_of(tests_text("", "[]", kEvil)).find("a pickle of"), std::string::npos);
}

}  // namespace
}  // namespace vase::eval
