// `vase policies`: the lists, the explanations, and names that do not exist.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli_fixture.h"
#include "vase/policy.h"

namespace vase {
namespace {

TEST(Policies, ListsEveryPresetAndPartInReadableLines) {
  const Outcome o = vase("policies");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const PolicyInfo& preset : Policy::presets())
    EXPECT_NE(o.out.find("\n  " + preset.name + " "), std::string::npos) << preset.name;
  for (const PartInfo& part : Policy::parts()) {
    EXPECT_NE(o.out.find("\n  " + std::string(part.name) + " "), std::string::npos) << part.name;
  }
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Policies, JsonHasTheSameAndTheCompositionsParse) {
  const Outcome o = vase("policies --json");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["presets"].size(), Policy::presets().size());
  EXPECT_EQ(j["parts"].size(), Policy::parts().size());
  for (const auto& preset : j["presets"]) EXPECT_NO_THROW(Policy::parse(preset["text"].get<std::string>())) << preset;
  for (const auto& part : j["parts"]) EXPECT_TRUE(part.contains("parameters") && part.contains("source")) << part;
}

TEST(Policies, ExplainsAPreset) {
  const Outcome o = vase("policies vase-attnv");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* part :
       {"protect=sinks:4,value:25% score=attention select=sample", "arXiv 2606.03928", "16 B per slot",
        "69 tokens at --kv-buffer 64", "\n  value:25% ", "\n  sample ", "(default range)"}) {
    EXPECT_NE(o.out.find(part), std::string::npos) << part << "\n" << o.out;
  }
}

TEST(Policies, ExplainsAComposition) {
  const Outcome o =
      vase("policies --json vase-dkv protect+=prompt 'score=0.5*attention:smooth=off-0.25*value*leverage'");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto j = nlohmann::json::parse(o.out);
  const std::string composition = j["composition"];
  EXPECT_EQ(Policy::parse(composition).text(), composition);
  std::vector<std::string> texts;
  for (const auto& part : j["parts"])
    texts.push_back(part["kind"].get<std::string>() + "=" + part["text"].get<std::string>());
  ASSERT_EQ(texts.size(), 6u);
  EXPECT_EQ(texts[0], "protect=sinks:4");
  EXPECT_EQ(texts[1], "protect=prompt");
  EXPECT_EQ(texts[2], "score=attention:smooth=off");
  EXPECT_EQ(texts[3].substr(0, 11), "score=value");
  EXPECT_EQ(texts[3].find('*'), std::string::npos);
  EXPECT_EQ(texts[4].substr(0, 14), "score=leverage");
  EXPECT_EQ(texts[5], "select=top");
  EXPECT_EQ(j["engine_keeps"]["bytes_per_slot"], 16);
}

// A composition tells every part that it is made of, whatever preset it is.
TEST(Policies, ExplainsEveryPreset) {
  for (const PolicyInfo& preset : Policy::presets()) {
    const Outcome o = vase("policies --json " + preset.name);
    ASSERT_EQ(o.code, 0) << preset.name << "\n" << o.err;
    const auto j = nlohmann::json::parse(o.out);
    if (!j["evicts"]) continue;
    std::string kinds;
    for (const auto& part : j["parts"]) kinds += part["kind"].get<std::string>() + " ";
    EXPECT_NE(kinds.find("score"), std::string::npos) << preset.name;
    EXPECT_NE(kinds.find("select"), std::string::npos) << preset.name;
  }
}

TEST(Policies, TellsHowAPolicyThatNeedsAFileIsHad) {
  const Outcome seer = vase("policies seer-attention"), tri = vase("policies triattention");
  for (const char* part : {"read=seer:gates=FILE", "scripts/distil_gates.py", "\n  seer:gates=FILE ", "(no default)"}) {
    EXPECT_NE(seer.out.find(part), std::string::npos) << part << "\n" << seer.out;
  }
  EXPECT_NE(tri.out.find("vase calibrate triattention"), std::string::npos) << tri.out;
  EXPECT_EQ(nlohmann::json::parse(vase("policies --json seer-attention").out)["composition"], "read=seer:gates=FILE");
  EXPECT_EQ(nlohmann::json::parse(vase("policies --json").out)["file_presets"].size(), 2u);
}

TEST(Policies, OneNameMayBeTwoParts) {
  const auto j = nlohmann::json::parse(vase("policies value --json").out);
  ASSERT_EQ(j["part"].size(), 2u);
  EXPECT_EQ(j["part"][0]["kind"], "protect");
  EXPECT_EQ(j["part"][1]["kind"], "score");
}

TEST_F(Cli, UnknownPolicies) {
  expect_usage_error(vase("policies snapkw"), {"'snapkw'", "did you mean 'snapkv'"});
  expect_usage_error(vase("policies seer-attention-r"), {"did you mean 'seer-attention'"});
  expect_usage_error(vase("policies score=attntion"), {"character 7", "did you mean 'attention'"});
  expect_usage_error(vase("policies --jsn"), {"did you mean --json"});
}

}  // namespace
}  // namespace vase
