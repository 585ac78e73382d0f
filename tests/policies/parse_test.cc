// The text form of policies: what it stands for, and what its errors say.
#include <gtest/gtest.h>

#include <set>

#include "policies/parse.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase {
namespace {

std::string canonical(const std::string& text) { return Policy::parse(text).text(); }

std::string error_of(const std::string& text) {
  try {
    Policy::parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << text;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    return error.what();
  }
  return "no error";
}

TEST(Parse, PresetsStandForTheirText) {
  std::set<std::string> names;
  for (const PolicyInfo& preset : Policy::presets()) {
    names.insert(preset.name);
    EXPECT_EQ(canonical(preset.name), preset.text);
    EXPECT_EQ(canonical(preset.text), preset.text);
    EXPECT_FALSE(preset.summary.empty() || preset.source.empty());
  }
  EXPECT_EQ(Policy::presets().size(), names.size());
}

TEST(Parse, DefaultsAndOptions) {
  const std::pair<const char*, const char*> kCases[] = {
      {"score=attention", "score=attention select=top"},
      {"score=attention:smooth,divisor=fixed", "score=attention:divisor=fixed select=top"},
      {"score=attention,smooth=off select=sample", "score=attention:smooth=off select=sample"},
      {"score=leverage", "score=leverage:sketch=20,resample=on select=top"},
      {"score=leverage:sketch=8,resample", "score=leverage:sketch=8,resample=on select=top"},
      {"score=leverage:resample=off", "score=leverage:sketch=20,resample=off select=top"},
      {"score=leverage:sketch=off", "score=leverage:sketch=off select=top"},
      {"score=value:keep=small,measure=l2", "score=value:measure=l2,keep=small select=top"},
      {"protect=sinks score=uniform", "protect=sinks:4 score=uniform select=top"},
      {"protect=value score=uniform", "protect=value:25% score=uniform select=top"},
      {"protect=value:12.5%,measure=l2,prompt,sinks:2 score=uniform",
       "protect=sinks:2,prompt,value:12.5%,measure=l2 score=uniform select=top"},
      {"protect=prompt:10% score=uniform", "protect=prompt:first=10%,last=10% score=uniform select=top"},
      {"protect=prompt:last=3,random:7 score=uniform",
       "protect=prompt:first=0,last=3,random:7 score=uniform select=top"},
      {"  order=score\tselect=sample\n score=uniform ", "score=uniform select=sample order=score"},
      {"protect=none score=uniform", "score=uniform select=top"},
  };
  for (const auto& [text, want] : kCases) EXPECT_EQ(canonical(text), want) << text;
}

TEST(Parse, OverridesOfPresets) {
  EXPECT_EQ(canonical("vase-attnv protect+=prompt"),
            "protect=sinks:4,prompt,value:25% score=attention select=sample");
  EXPECT_EQ(canonical("vase-attnv protect+=value:64"), "protect=sinks:4,value:64 score=attention select=sample");
  EXPECT_EQ(canonical("vase-attnv protect=none"), "score=attention select=sample");
  EXPECT_EQ(canonical("vase-attnv score=attention:divisor=fixed order=score"),
            "protect=sinks:4,value:25% score=attention:divisor=fixed select=sample order=score");
  EXPECT_EQ(canonical("random protect+=sinks:4"), "protect=sinks:4 score=uniform select=top");
  EXPECT_EQ(canonical("full protect+=prompt"), "full");
}

TEST(Parse, ReadingPoliciesStandAlone) {
  EXPECT_EQ(canonical("read=quest"), "read=quest:page=16");
  EXPECT_EQ(canonical("quest read=quest:dense_layers=2,page=8"), "read=quest:page=8,dense_layers=2");
  EXPECT_EQ(canonical("oracle-blocks"), "read=oracle:block=64");
  const Policy policy = Policy::parse("quest");
  EXPECT_TRUE(policy.reads() && !policy.evicts());
  EXPECT_FALSE(Policy::parse("full").reads() || Policy::parse("snapkv").reads());
}

TEST(Parse, NeedsFollowTheParts) {
  const auto needs = [](const char* text) {
    const PolicyNeeds n = Policy::parse(text).needs();
    return std::make_pair(n.attention != AttentionRecord::kNone, n.value_range);
  };
  EXPECT_EQ(needs("full"), std::make_pair(false, false));
  EXPECT_EQ(needs("vase-attnv"), std::make_pair(true, true));
  EXPECT_EQ(needs("vase-attnv protect+=value:25%,measure=l2"), std::make_pair(true, false));
  EXPECT_EQ(needs("vase-dkv"), std::make_pair(false, false));
  EXPECT_TRUE(Policy::parse("protect=leverage score=uniform").needs().norm_product);
  EXPECT_EQ(needs("snapkv"), std::make_pair(true, false));
  EXPECT_EQ(needs("score=value"), std::make_pair(false, true));
}

TEST(ParseErrors, PointAtTheWordAndNameTheNearest) {
  const std::pair<const char*, std::vector<const char*>> kCases[] = {
      {"vase-atnv", {"character 1:", "'vase-atnv'", "did you mean 'vase-attnv'", "random-prompt"}},
      {"snapkv score=atention", {"character 14:", "score 'atention'", "'attention'"}},
      {"protect=sink:4 score=uniform", {"character 9:", "'sink'", "'sinks'"}},
      {"protect=sinks:4,promt score=uniform", {"character 17:", "'promt'", "'prompt'"}},
      {"score=uniform select=topp", {"character 22:", "'topp'", "'top'"}},
      {"score=uniform ordr=score", {"character 15:", "key 'ordr'", "'order'"}},
      {"score=uniform order=scores", {"character 21:", "'scores'", "position, score"}},
      {"score=attention:smoth=off", {"character 17:", "'smoth'", "'smooth'"}},
      {"score=attention:smooth=maybe", {"character 24:", "'maybe'", "off, on"}},
      {"score=key-diff:3", {"character 16:", "'key-diff' takes no option '3'"}},
      {"protect=value:25%,measure=l3 score=uniform", {"character 27:", "'l3'", "'l2'"}},
      {"protect=sinks:-1 score=uniform", {"character 15:", "0 to 1048576", "'-1'"}},
      {"protect=sinks:2147483648 score=uniform", {"0 to 1048576"}},
      {"protect=sinks:4x score=uniform", {"'4x'"}},
      {"protect=sinks:1e3 score=uniform", {"'1e3'"}},
      {"protect=sinks: score=uniform", {"whole number", "''"}},
      {"protect=value:101% score=uniform", {"0% to 100%", "'101%'"}},
      {"protect=value:nan% score=uniform", {"0% to 100%"}},
      {"protect=value:-5 score=uniform", {"0 to 1048576"}},
      {"protect=value:1.5 score=uniform", {"'1.5'"}},
      {"score=leverage:sketch=0", {"1 to 64", "'0'"}},
      {"score=leverage:sketch=65", {"1 to 64"}},
      {"score=leverage:sketch", {"1 to 64"}},
      {"score=leverage:sketch=5,sketch=6", {"character 25:", "twice"}},
      {"protect=sinks:4,sinks:8 score=uniform", {"character 17:", "twice"}},
      {"score=uniform score=attention", {"character 15:", "twice"}},
      {"score+=uniform", {"only protect takes '+='"}},
      {"score=", {"needs a value"}},
      {"=5", {"unknown key ''"}},
      {"", {"name of a preset", "score=", "attention, caote"}},
      {"protect=sinks:4", {"score="}},
      {"score=uniform snapkv", {"character 15:", "'snapkv'", "first word"}},
      {"full score=uniform", {"character 6:", "'full' never evicts"}},
      {"read=quets", {"character 6:", "reader 'quets'", "'quest'"}},
      {"read=quest:page=0", {"character 17:", "1 to 4096"}},
      {"read=quest:pages=3", {"character 12:", "'page'"}},
      {"snapkv read=quest", {"character 8:", "stands alone"}},
      {"full read=quest", {"character 6:", "stands alone"}},
      {"read=quest select=top", {"character 12:", "takes no select"}},
      {"quest protect+=prompt", {"character 7:", "takes no protect"}},
      {"seer-attention", {"character 1:", "needs a file", "read=seer:gates=FILE"}},
      {"triattention", {"character 1:", "needs a file", "protect=prompt score=triattention:stats=FILE"}},
      {"score=uniform+key-norm", {"character 14:", "write '+1*key-norm'"}},
      {"score=uniform+0.5*value+key-norm", {"character 24:", "write '+1*key-norm'"}},
      {"seer-atention", {"did you mean 'seer-attention'"}},
      {"read=seer", {"needs gates=FILE"}},
      {"protect=sinks:4,,prompt score=uniform", {"character 17:", "rule of protection ''"}},
  };
  for (const auto& [text, parts] : kCases) {
    const std::string error = error_of(text);
    for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << text << "\n  " << error;
  }
}

TEST(ParseErrors, HostileTextStaysShortAndPrintable) {
  const std::string error = error_of("\x01\x1b[31m" + std::string(100000, 'x'));
  EXPECT_LT(error.size(), 1500u);  // the names of all presets
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

TEST(Nearest, FirstOfTheSmallestEditDistances) {
  const std::string_view names[] = {"top", "sample", "random"};
  EXPECT_EQ(nearest("tpo", names), "top");
  EXPECT_EQ(nearest("simple", names), "sample");
  EXPECT_EQ(nearest("", names), "top");
}

}  // namespace
}  // namespace vase
