// What ends a text, and what is said about it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_fixture.h"

namespace vase {
namespace {

TEST_F(Cli, StopStringsEndTheText) {
  const Outcome o = run("--temp 0 --max-tokens 50 --stop xyz --stop def");
  EXPECT_EQ(o.out, "abc");
  EXPECT_NE(o.err.find("finish: stop"), std::string::npos) << o.err;
}

// Field report 66.
TEST_F(Cli, LoopsEndTheTextWhenAsked) {
  const std::string greedy = "--temp 0 --max-tokens 600 ";
  const Outcome on = run(greedy + "--stop-loops 4"), off = run(greedy),
                json = run(greedy + "--json --stop-loops 100");
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(on.out.size(), 512u);
  EXPECT_NE(on.err.find("finish: repetition"), std::string::npos) << on.err;
  EXPECT_EQ(off.out.size(), 600u);
  EXPECT_NE(off.err.find("finish: length"), std::string::npos) << off.err;
  const nlohmann::json j = nlohmann::json::parse(json.out);
  EXPECT_EQ(j["finish"], "repetition");
  EXPECT_EQ(j["label"], "loop");
  EXPECT_EQ(j["generated_tokens"], 600);  // "abcdef" a hundred times; the limit is met by the same token
  expect_usage_error(run("--stop-loops 2"), {"--stop-loops", "'2'", "3 to 1000"});
}

// Field report 70: nothing but the default ends this text.
TEST_F(Cli, WithoutALimitATextEndsAt4096Tokens) {
  const Outcome o = run("--temp 0 --kv-budget 70");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.size(), 4096u);
  EXPECT_NE(o.err.find("finish: length"), std::string::npos) << o.err;
}

// Field report 64: thinking that used up the limit is shown, and says what happened.
TEST_F(Cli, ThinkingThatDoesNotEndIsTruncated) {
  std::vector<int32_t> cycle = {test::kThink};
  for (char letter = 'A'; letter <= 'z'; ++letter) cycle.push_back(letter);
  const test::TinyModel thinking{{.embedding = 512, .cycle = cycle}};
  const Outcome o =
      vase("run --raw --threads 1 --temp 0 --max-tokens 40 --json --model " + thinking.path() + " 1+1");
  ASSERT_EQ(o.code, 0) << o.err;
  const nlohmann::json j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["text"].get<std::string>().substr(0, 9), "<think>AB");
  EXPECT_EQ(j["generated_tokens"], 40);
  EXPECT_EQ(j["finish"], "length");
  EXPECT_EQ(j["label"], "truncated");
}

}  // namespace
}  // namespace vase
