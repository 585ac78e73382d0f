// Megabytes and preset files as a user meets them: `vase tune --kv-budget-mb`, `--kv-type auto`, `--preset`.
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli_fixture.h"

namespace vase {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CliPreset : public Cli {
 protected:
  CliPreset() {
    fs::create_directory(folder_);
    for (const std::string name : {"a", "b"}) write_lines(text(name), name);
  }
  ~CliPreset() override { fs::remove_all(folder_); }

  std::string text(const std::string& name) const { return folder_ + "/" + name + ".txt"; }
  std::string with_model(const std::string& command) const {
    return command + " --threads 1 --model " + small_.path();
  }

  Outcome tune(const std::string& flags, int tokens = 300) const {
    return vase(with_model("tune") + " --text " + text("a") + " --text " + text("b") + " --tokens " +
                std::to_string(tokens) + " --kv-buffer 8 --kv-budget-mb 0.6 " + flags);
  }
  // A preset of the test's model, with q4_0 rows.
  std::string make_preset() const {
    const Outcome o = tune("--kv-type q4_0 --policy vase-attnv --overwrite --preset-out " + preset_);
    EXPECT_EQ(o.code, 0) << o.err;
    return preset_;
  }
  std::string changed(const std::function<void(json&)>& change) const {
    json object = json::parse(contents(make_preset()));
    change(object);
    std::ofstream(preset_) << object;
    return preset_;
  }
  void expect_failure(const Outcome& o, const std::vector<std::string>& words) const {
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    for (const std::string& word : words)
      EXPECT_NE(o.err.find(word), std::string::npos) << word << "\n" << o.err;
  }

  const std::string folder_ = test::temporary_path(".folder"), preset_ = folder_ + "/own.json";
  test::TinyModel small_{{.layers = 8, .context = 1024}};
};

TEST_F(CliPreset, TuneSortsWhatTheMegabytesBuy) {
  const Outcome o = tune("--json --kv-type f16 --kv-type q4_0 --policy vase-attnv --policy streaming");
  ASSERT_EQ(o.code, 0) << o.err;
  const json found = json::parse(o.out);
  ASSERT_EQ(found["measured"].size(), 4u);
  EXPECT_TRUE(found["complete"]);
  EXPECT_TRUE(found["not_measured"].empty());
  EXPECT_EQ(found["counted_from"], 16) << "rows of the buffer and the period are not quantised";
  ASSERT_EQ(found["noise_floors"].size(), 2u);
  for (const json& floor : found["noise_floors"])
    EXPECT_EQ(floor["positions"], 2 * (300 - 16)) << "those of the rows: " << floor["policy"];
  double last = 0;
  for (const json& row : found["measured"]) {
    EXPECT_GE(row["kl_mean"].get<double>(), last);
    last = row["kl_mean"];
    EXPECT_LE(row["kv_bytes"].get<double>(), 0.6 * 1048576);
    EXPECT_EQ(row["positions"], 2 * (300 - 16)) << "the same for all";
    const Outcome run =
        vase(with_model("run --json --raw --max-tokens 1 --kv-buffer 8 --kv-budget-mb 0.6") + " --kv-type " +
             row["kv_type"].get<std::string>() + " --policy " + row["policy"].get<std::string>() + " hi");
    EXPECT_EQ(json::parse(run.out)["memory"]["budget"], row["budget"]) << "what vase run takes";
  }
}

TEST_F(CliPreset, TunePoliciesMayHaveTypesOfTheirOwn) {
  const Outcome o = tune("--json --seeds 2 --kv-type f16 --policy 'random @q4_0' --policy streaming");
  ASSERT_EQ(o.code, 0) << o.err;
  std::map<std::string, json> rows;
  const json found = json::parse(o.out);
  for (const json& row : found["measured"]) rows[row["policy"]] = row;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows["random"]["kv_type"], "q4_0");
  EXPECT_EQ(rows["streaming"]["kv_type"], "f16");
  EXPECT_EQ(rows["random"]["seeds"], 2);
  EXPECT_EQ(rows["streaming"]["seeds"], 1) << "it draws nothing";
  EXPECT_EQ(rows["random"]["positions"], 2 * rows["streaming"]["positions"].get<int>());
  expect_usage_error(tune("--policy 'random @q3'"), {"q3"});
  expect_usage_error(tune("--policy 'random @auto'"), {"--kv-type auto"});
  expect_usage_error(vase(with_model("tune") + " --text " + text("a") + " --policy 'random @q4_0'"),
                     {"@", "--kv-budget-mb"});
}

TEST_F(CliPreset, TuneTriesTypesAndPoliciesByItself) {
  const Outcome o =
      vase(with_model("tune --json --tokens 60 --kv-buffer 8 --kv-budget-mb 0.6") + " --text " + text("a"));
  ASSERT_EQ(o.code, 0) << o.err;
  std::set<std::string> types, policies;
  const json found = json::parse(o.out);
  for (const json& row : found["measured"]) {
    types.insert(row["kv_type"]);
    policies.insert(row["policy"]);
  }
  EXPECT_EQ(types, (std::set<std::string>{"f16", "q8_0", "q8_0,q4_0", "q4_0"}));
  for (const char* policy : {"vase", "vase-attnv", "vase-dkv", "vase-attnv-weighted", "vase-dkv-weighted"})
    EXPECT_TRUE(policies.contains(policy)) << policy;
}

TEST_F(CliPreset, TunePrintsATableAndWritesAPreset) {
  const Outcome o = tune("--kv-type f16 --kv-type q8_0 --policy random --preset-out " + preset_);
  ASSERT_EQ(o.code, 0) << o.err;
  for (const std::string word : {"Best in 0.6 MiB", "| rows | policy |", "| f16 | random |",
                                 "| q8_0 | random |", "Noise floor", "--preset."})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << "\n" << o.out;
  const json preset = json::parse(contents(preset_));
  EXPECT_EQ(preset["name"], "random");
  EXPECT_EQ(preset["cache"]["buffer"], 8);
  EXPECT_EQ(preset["measured"]["texts"], 2);
  EXPECT_NE(o.out.find("--kv-budget " + preset["cache"]["budget"].dump() + ","), std::string::npos) << o.out;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3) << "nothing but the texts and the preset";
}

// Called by its preset alone it would pass for that one.
TEST_F(CliPreset, RulesThatWereAddedAreAPartOfTheName) {
  const Outcome o = tune("--kv-type f16 --policy random --protect prompt --preset-out " + preset_);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json::parse(contents(preset_))["name"], "random protect+=prompt");
  EXPECT_EQ(vase(with_model("run --raw --max-tokens 2") + " hi --preset " + preset_).code, 0);
}

TEST_F(CliPreset, APresetThatCannotBeWrittenLeavesTheTable) {
  const Outcome o = tune("--kv-type f16 --policy random --preset-out /dev/full");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("| f16 | random |"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("Written to"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("/dev/full"), std::string::npos) << o.err;
}

TEST_F(CliPreset, TuneReplacesAFileOnlyWhenTold) {
  std::ofstream(preset_) << "mine";
  const std::string flags = "--kv-type f16 --policy random --preset-out ";
  expect_usage_error(tune(flags + preset_), {"--preset-out", preset_, "--overwrite"});
  EXPECT_EQ(contents(preset_), "mine");
  EXPECT_EQ(tune(flags + preset_ + " --overwrite").code, 0);
  EXPECT_EQ(json::parse(contents(preset_))["format"], "vase-preset");
  expect_usage_error(tune(flags + small_.path() + " --overwrite"), {"--preset-out", "--model"});
  expect_usage_error(tune(flags + text("a") + " --overwrite"), {"--preset-out", "--text"});
  expect_usage_error(tune(flags + folder_), {"directory"});
}

TEST_F(CliPreset, TuneRefusesWhatItCannotCompare) {
  expect_usage_error(tune("--target-kl 1"), {"--target-kl", "--kv-budget-mb"});
  expect_usage_error(tune("--step 8"), {"--step", "--kv-budget-mb"});
  expect_usage_error(tune("--kv-type auto"), {"--kv-type auto"});
  expect_usage_error(tune("--kv-type q5_0"), {"--kv-type", "q5_0"});
  expect_usage_error(tune("--policy full"), {"full", "leave it out"});
  expect_usage_error(tune("--policy quest"), {"quest", "leave it out"});
  expect_usage_error(tune("--kv-type f16 --kv-type f16,f16"),
                     {"--policy 'vase' with --kv-type f16 is given twice"});
  expect_usage_error(tune("--kv-type f16", 20), {"longer texts"});
  expect_usage_error(vase(with_model("tune") + " --text " + text("a") + " --kv-budget-mb 0.01"),
                     {"too little", "q8_0", "q4_0", "smallest"});
  expect_usage_error(vase(with_model("tune") + " --text " + text("a") + " --preset-out x"),
                     {"--preset-out", "--kv-budget-mb"});
  expect_usage_error(vase(with_model("tune") + " --text " + text("a") + " --kv-type f16 --kv-type q8_0"),
                     {"--kv-type", "--kv-budget-mb"});
}

TEST_F(CliPreset, WhatIsTooDearIsSaidBesideTheTable) {
  const Outcome o = vase(with_model("tune") + " --text " + text("a") +
                         " --kv-budget-mb 0.6 --kv-buffer 8 --tokens 300 --kv-type f16 "
                         "--policy random --policy 'random protect=sinks:4000'");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("Not measured: f16, random protect=sinks:4000: "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("too little"), std::string::npos) << o.out;
}

// The preset gives the text that its settings give.
TEST_F(CliPreset, RunTakesAPreset) {
  const json preset = json::parse(contents(make_preset()));
  const std::string flags =
      with_model("run --json --raw --temp 0 --evict-seed 1 --max-tokens 400 --ignore-eos");
  const Outcome o = vase(flags + " --preset " + preset_ + " 'line 1, line 4, line 9'");
  ASSERT_EQ(o.code, 0) << o.err;
  const json run = json::parse(o.out);
  EXPECT_EQ(run["memory"]["key_type"], "q4_0");
  EXPECT_EQ(run["memory"]["budget"], preset["cache"]["budget"]);
  EXPECT_EQ(run["memory"]["buffer"], 8);
  EXPECT_EQ(run["policy"], preset["policy"]);
  EXPECT_GT(run["counters"]["evicted"], 0);
  const Outcome by_hand = vase(flags + " --policy vase-attnv --kv-type q4_0 --kv-buffer 8 --kv-budget " +
                               preset["cache"]["budget"].dump() + " 'line 1, line 4, line 9'");
  EXPECT_EQ(json::parse(by_hand.out)["tokens"], run["tokens"]);
}

TEST_F(CliPreset, EvalTakesAPreset) {
  const json preset = json::parse(contents(make_preset()));
  const Outcome kl =
      vase(with_model("eval kl --json") + " --tokens 300 --text " + text("a") + " --preset " + preset_);
  ASSERT_EQ(kl.code, 0) << kl.err;
  const json row = json::parse(kl.out)["rows"][0];
  EXPECT_EQ(row["policy"], "vase-attnv");
  EXPECT_EQ(row["budget"], preset["cache"]["budget"]);
  EXPECT_GT(row["positions"], 0);
  const std::string out = folder_ + "/results";
  const Outcome run =
      vase(with_model("eval run --json") + " --task chain:steps=3 --problems 2 --max-tokens 20 --preset " +
           preset_ + " --out " + out);
  ASSERT_EQ(run.code, 0) << run.err;
  const json config = json::parse(contents(out + "/config.json"))["config"];
  EXPECT_EQ(config["cache"]["key_type"], "q4_0");
  EXPECT_EQ(config["cache"]["buffer"], 8);
  EXPECT_EQ(config["cells"][0]["budget"], preset["cache"]["budget"]);
}

TEST_F(CliPreset, BenchTakesAPreset) {
  const json preset = json::parse(contents(make_preset()));
  const Outcome o = vase("bench --json --tokens 4 --repeats 1 --threads 1 --model " + small_.path() +
                         " --preset " + preset_);
  ASSERT_EQ(o.code, 0) << o.err;
  const json row = json::parse(o.out)["rows"][0];
  EXPECT_EQ(row["budget"], preset["cache"]["budget"]);
  EXPECT_EQ(row["policy_name"], "vase-attnv");
  EXPECT_EQ(row["memory"]["value_type"], "q4_0");
  expect_usage_error(vase("bench --shape qwen3-0.6b --preset " + preset_), {"--preset", "--model"});
}

// Each that shapes a cache, with a value.
const std::vector<std::string> kCacheFlags = {"--policy random", "--kv-budget 64",    "--kv-budget-mb 1",
                                              "--kv-buffer 8",   "--kv-period 8",     "--kv-layers uniform",
                                              "--kv-stagger on", "--kv-type f16",     "--protect prompt",
                                              "--prefill evict", "--trigger general", "--positions text"};

// The flags of `vase eval run` from --policy to --preset, where those of the cache are added: a new one is to be in the list,
// so that it is not forgotten where they are refused.
TEST_F(CliPreset, TheListOfFlagsIsWhole) {
  const std::string help = vase("eval run --help").out;
  std::vector<std::string> listed;
  for (const std::string& flag : kCacheFlags) listed.push_back(flag.substr(0, flag.find(' ')));
  std::vector<std::string> shown;
  for (size_t at = help.find("\n  --policy "); at < help.find("\n  --preset "); at = help.find("\n  --", at + 1))
    shown.push_back(help.substr(at + 3, help.find(' ', at + 3) - at - 3));
  EXPECT_EQ(shown, listed);
}

TEST_F(CliPreset, FlagsOfTheCacheAreRefusedBesideAServer) {
  const std::string server = "eval run --server http://127.0.0.1:1 --server-model m --task chain --out " + folder_ + "/x ";
  for (const std::string& flag : kCacheFlags)
    expect_usage_error(vase(server + flag), {flag.substr(0, flag.find(' ')) + " does nothing with --server"});
}

TEST_F(CliPreset, FlagsThatThePresetSetsAreRefusedBesideIt) {
  make_preset();
  for (const std::string& flag : kCacheFlags) {
    const std::string name = flag.substr(0, flag.find(' ')), both = " --preset " + preset_ + " " + flag;
    expect_usage_error(vase(with_model("run") + both + " hi"), {name + " is set by", preset_});
    expect_usage_error(vase(with_model("eval kl") + " --text " + text("a") + both),
                       {name + " is set by", preset_});
    expect_usage_error(vase(with_model("eval run") + " --task chain --out " + folder_ + "/x" + both),
                       {name + " is set by", preset_});
    if (name == "--prefill" || name == "--trigger" || name == "--positions") continue;  // not of bench
    expect_usage_error(vase(with_model("bench") + both), {name + " is set by", preset_});
  }
  EXPECT_EQ(vase(with_model("run --raw --max-tokens 2 --ctx 500") + " --preset " + preset_ + " hi").code, 0);
  expect_usage_error(vase("eval run --server http://127.0.0.1:1 --server-model m --task chain --out " +
                          folder_ + "/x --preset " + preset_),
                     {"--preset", "--server"});
}

TEST_F(CliPreset, FilesThatDoNotBelongAreRefused) {
  const std::string run = with_model("run --raw --max-tokens 2") + " hi --preset ";
  make_preset();
  const Outcome other = vase("run --raw --model " + model_.path() + " hi --preset " + preset_);
  expect_usage_error(other, {preset_, "was made for", "vase tune"});
  const std::string kl = "eval kl --model " + model_.path() + " --text " + text("a") + " --preset ";
  expect_usage_error(vase(kl + preset_), {preset_, "was made for"});
  expect_failure(vase(run + changed([](json& j) { j["version"] = 7; })),
                 {"version 7", "reads version 2", "vase tune"});
  expect_failure(vase(run + changed([](json& j) { j["cache"]["colour"] = 1; })), {"unknown field 'colour'"});
  expect_failure(vase(run + changed([](json& j) { j["cache"]["budget"] = -4; })),
                 {"'budget' is -4", "allowed"});
  const std::string whole = contents(make_preset());
  std::ofstream(preset_) << whole.substr(0, whole.size() / 2);
  expect_failure(vase(run + preset_), {"torn", "vase tune"});
  expect_failure(vase(run + folder_ + "/none.json"), {"cannot read", "none.json"});
  expect_usage_error(vase(run + "''"), {"--preset is empty"});
}

TEST_F(CliPreset, AutoTakesTheMostPreciseThatFits) {
  const auto types = [&](const std::string& flags) {
    const Outcome o = vase(with_model("run --json --raw --temp 0 --ignore-eos --kv-type auto --kv-buffer 8") +
                           " " + flags + " hi");
    EXPECT_EQ(o.code, 0) << o.err;
    if (o.code != 0) return std::string();
    const json run = json::parse(o.out);
    EXPECT_NE(o.err.find("rows of "), std::string::npos) << o.err;
    if (run["memory"]["key_type"] != "q4_0") EXPECT_EQ(run["counters"]["evicted"], 0);
    return run["memory"]["key_type"].get<std::string>();
  };
  EXPECT_EQ(types("--kv-budget-mb 10 --max-tokens 50"), "f16");
  EXPECT_EQ(types("--kv-budget-mb 0.6 --max-tokens 30"), "f16");
  EXPECT_EQ(types("--kv-budget-mb 0.6 --max-tokens 800"), "q4_0");
  EXPECT_EQ(types("--kv-budget-mb 0.6 --max-tokens 800 --ctx 30"), "f16") << "the text ends there";
}

TEST_F(CliPreset, MegabytesDecideOnTypesUnlessTheseAreGiven) {
  const auto types = [&](const std::string& flags) {
    const Outcome o =
        vase(with_model("run --json --raw --max-tokens 800 --ctx 1000") + " " + flags + " hi");
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? json::parse(o.out)["memory"]["key_type"].get<std::string>() : "";
  };
  EXPECT_EQ(types("--kv-buffer 8 --kv-budget-mb 0.6"), "q4_0");
  EXPECT_EQ(types("--kv-buffer 8 --kv-budget-mb 0.6 --kv-type f16"), "f16");
  EXPECT_EQ(types("--kv-buffer 8 --kv-budget 64"), "f16");
  EXPECT_EQ(types("--policy full --kv-budget-mb 20"), "f16") << "nothing is bought";
  const Outcome info = vase("info --kv-budget-mb 1 --kv-buffer 8 " + small_.path());
  EXPECT_NE(info.out.find("q4_0, requested"), std::string::npos) << info.out << info.err;
  EXPECT_NE(info.out.find("f16\n"), std::string::npos) << "the other budgets are as they would be: " << info.out;
  const std::string kl = with_model("eval kl --json --kv-buffer 8 --tokens 300 --policy random") + " --text " + text("a");
  for (const auto& [flags, type] : {std::pair{"", "q4_0"}, {" --kv-type f16", "f16"}}) {
    const Outcome o = vase(kl + " --kv-budget-mb 0.6" + flags);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(json::parse(o.out)["rows"][0]["kv_type"], type);
  }
}

TEST_F(CliPreset, SeedsArePassedOverWhereNothingIsDrawn) {
  const std::string lines = folder_ + "/kl.jsonl";
  const Outcome o = vase(with_model("eval kl --kv-buffer 8 --tokens 300 --seeds 3 --kv-budget 32 --policy random "
                                    "--policy streaming") + " --text " + text("a") + " --out " + lines);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string all = contents(lines);
  const auto count = [&](const std::string& policy) {
    size_t found = 0;
    for (size_t at = 0; (at = all.find("\"policy\":\"" + policy + "\"", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("random"), 3u) << all;
  EXPECT_EQ(count("streaming"), 1u) << all;
}

TEST_F(CliPreset, AutoInTheOtherCommands) {
  const Outcome info = vase("info --kv-type auto --kv-budget-mb 3 --kv-buffer 8 " + small_.path());
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("rows             q4_0"), std::string::npos) << info.out;
  const std::string kl =
      with_model("eval kl --json --kv-buffer 8 --tokens 300 --policy random --policy streaming") +
      " --text " + text("a");
  const Outcome bought = vase(kl + " --kv-type auto --kv-budget-mb 0.6 --kv-budget-mb 10");
  ASSERT_EQ(bought.code, 0) << bought.err;
  const json rows = json::parse(bought.out)["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["kv_type"], "q4_0");
  EXPECT_GT(rows[0]["positions"], 0);
  EXPECT_EQ(rows[1]["kv_type"], "f16");
  EXPECT_EQ(rows[1]["positions"], 0) << "never evicted";
  const std::string run =
      with_model(
          "eval run --json --task chain:steps=3 --problems 2 --max-tokens 20 --kv-buffer 8 --policy full "
          "--policy random") +
      " --out " + folder_;
  const Outcome texts = vase(run + "/r --kv-type auto --kv-budget-mb 10 --kv-budget-mb 20");
  ASSERT_EQ(texts.code, 0) << texts.err;
  const json cells = json::parse(contents(folder_ + "/r/config.json"))["config"]["cells"];
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1]["kv_type"], "f16");
  EXPECT_LT(cells[1]["budget"], cells[2]["budget"]);
  expect_usage_error(vase(run + "/s --kv-budget-mb 0.001"), {"too little", "q4_0"});
  expect_usage_error(vase(run + "/s --kv-budget-mb 1 --kv-budget 64"), {"--kv-budget"});
  expect_usage_error(vase(run + "/s --kv-type auto"), {"--kv-type auto", "--kv-budget-mb"});
  expect_usage_error(vase(kl + " --kv-type auto"), {"--kv-type auto", "--kv-budget-mb"});
  expect_usage_error(vase(kl + " --policy quest --kv-budget-mb 1"), {"quest", "--kv-budget"});
  expect_usage_error(vase("run --kv-type auto --model " + small_.path() + " hi"),
                     {"--kv-type auto", "--kv-budget-mb"});
  expect_usage_error(vase("info --kv-type auto " + small_.path()), {"--kv-type auto", "--kv-budget-mb"});
  expect_usage_error(vase("bench --kv-type auto --kv-budget-mb 1 --model " + small_.path()),
                     {"--kv-type auto", "vase info"});
}

}  // namespace
}  // namespace vase
