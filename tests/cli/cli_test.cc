// The `vase` program as a user meets it: exit codes, what goes to which stream, and every bad input.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_fixture.h"

namespace vase {
namespace {

TEST_F(Cli, TextGoesToStandardOutputAlone) {
  const Outcome o = run("--temp 0 --max-tokens 8");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "abcdefab");
  EXPECT_NE(o.err.find("KV memory: "), std::string::npos);
  EXPECT_NE(o.err.find("finish: length"), std::string::npos);
  EXPECT_EQ(o.err.find('\033'), std::string::npos);  // no terminal, no live line
}

TEST_F(Cli, PromptFromFileAndStandardInput) {
  const std::string path = test::temporary_path(".txt");
  std::ofstream(path) << "hi\n";
  const Outcome file = run("--temp 0 --max-tokens 4 --json --file " + path, "");
  const Outcome input =
      vase("run --raw --temp 0 --max-tokens 4 --json --model " + model_.path(), "printf 'hi\\n' | ");
  std::remove(path.c_str());
  for (const Outcome& o : {file, input}) {
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(nlohmann::json::parse(o.out)["prompt_tokens"], 2);
  }
}

TEST_F(Cli, JsonIsOneCompleteObject) {
  const Outcome o =
      run("--json --temp 0 --max-tokens 300 --kv-budget 70 --seed 18446744073709551615 --evict-seed 0");
  ASSERT_EQ(o.code, 0) << o.err;
  const nlohmann::json j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["seed"].get<uint64_t>(), 18446744073709551615u);
  EXPECT_EQ(j["evict_seed"], 0);
  EXPECT_EQ(j["finish"], "length");
  EXPECT_EQ(j["tokens"].size(), 300u);
  EXPECT_EQ(j["text"].get<std::string>().substr(0, 7), "abcdefa");
  EXPECT_GT(j["counters"]["evicted"], 100);
  EXPECT_LE(j["counters"]["slots_used"], j["memory"]["capacity"]);
  const auto& m = j["memory"];
  EXPECT_EQ(m["bytes"].get<uint64_t>(),
            m["layers"].get<uint64_t>() * m["kv_heads"].get<uint64_t>() * m["capacity"].get<uint64_t>() *
                    (m["key_row_bytes"].get<uint64_t>() + m["value_row_bytes"].get<uint64_t>() +
                     m["metadata_bytes"].get<uint64_t>()) *
                    m["sequences"].get<uint64_t>() +
                m["scratch_bytes"].get<uint64_t>());
  for (const char* key : {"policy", "build", "timings", "model"}) EXPECT_TRUE(j.contains(key)) << key;
}

TEST_F(Cli, ShortNamesAreThoseOfLlamaCpp) {
  const Outcome whole = run("--policy full --ctx 100 --max-tokens 7");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(vase("run --raw -t 1 -m " + model_.path() + " --policy full -c 100 -n 7 hi").out, whole.out);
  EXPECT_EQ(whole.out.size(), 7u);
  const std::string model = "run --raw -m " + model_.path();
  expect_usage_error(vase(model + " -c 5 0123456789"), {"10 tokens", "5"});
  expect_usage_error(vase(model + " -n x hi"), {"--max-tokens", "allowed"});
  expect_usage_error(vase(model + " -t 0 hi"), {"--threads", "allowed"});
  expect_usage_error(vase(model + " --model " + model_.path() + " hi"), {"--model", "more than once"});
  EXPECT_EQ(vase("info -m " + model_.path()).code, 0);
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"run", "mnct"},  {"eval run", "mnct"}, {"eval kl", "mt"}, {"tune", "mt"},
      {"bench", "mct"}, {"capture", "mt"},    {"info", "mc"},    {"analyze values", "mt"}};
  for (const auto& [command, letters] : commands) {
    const std::string help = vase(command + " --help").out;
    for (const std::string names : {"-m,--model", "-n,--max-tokens", "-c,--ctx", "-t,--threads"}) {
      const bool there = letters.find(names[1]) != std::string::npos;
      EXPECT_EQ(help.find(" " + names + " ") != std::string::npos, there) << command << ", " << names;
    }
  }
}

TEST_F(Cli, AbsentSeedsDifferAndAreEchoed) {
  const auto seeds = [&](const std::string& flags) {
    const nlohmann::json j = nlohmann::json::parse(run("--json --max-tokens 1 " + flags).out);
    return std::pair(j["seed"].get<uint64_t>(), j["evict_seed"].get<uint64_t>());
  };
  const auto first = seeds(""), second = seeds("--seed -1 --evict-seed -1");
  EXPECT_NE(first.first, second.first);
  EXPECT_NE(first.second, second.second);
  EXPECT_NE(first.first, first.second);
}

TEST_F(Cli, LogsAndDumps) {
  const std::string log = test::temporary_path(".jsonl"), dump = test::temporary_path(".f32");
  const Outcome o =
      run("--temp 0 --max-tokens 200 --kv-budget 70 --log-evictions " + log + " --dump-logits " + dump);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(std::filesystem::file_size(dump), 200u * 4 * test::kTinyVocabulary);
  std::ifstream in(log);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(nlohmann::json::parse(line)["kept"].size(), 70u);
  std::remove(log.c_str());
  std::remove(dump.c_str());
}

TEST_F(Cli, FilesThatCannotBeWrittenFailAtOnce) {
  const std::string directory = test::temporary_path(".dir"), old = directory + "/old";
  std::filesystem::create_directory(directory);
  std::ofstream(old) << "before";
  for (const std::string flag : {"--log-evictions ", "--dump-logits "}) {
    const Outcome missing = run(flag + "/nonexistent/file"), folder = run(flag + directory);
    EXPECT_EQ(missing.code, 1);
    EXPECT_EQ(missing.out, "");
    EXPECT_EQ(missing.err, "vase: cannot write /nonexistent/file: No such file or directory\n");
    expect_usage_error(folder, {"is a directory"});
    // A run that fails leaves nothing, and leaves alone what was there.
    for (const std::string& path : {old, directory + "/new"})
      EXPECT_EQ(run("--ctx 1 " + flag + path).code, 2);
    EXPECT_EQ(contents(old), "before");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
    EXPECT_EQ(run("--max-tokens 2 " + flag + "/dev/null").code, 0);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  }
  EXPECT_EQ(run("--max-tokens 2 --dump-logits " + old).code, 0);
  EXPECT_EQ(std::filesystem::file_size(old), 2u * 4 * test::kTinyVocabulary);
  std::filesystem::remove_all(directory);
}

TEST_F(Cli, BadValuesAreNamedWithWhatIsAllowed) {
  for (const std::string value : {"-5", "0", "1.5", "nan", "99999999999999999999", "x", "''"}) {
    expect_usage_error(run("--kv-budget " + value), {"--kv-budget", "allowed", "16777216"});
  }
  for (const std::string value : {"-1", "nan", "inf", "0", "x"}) {
    expect_usage_error(run("--kv-budget-mb " + value), {"--kv-budget-mb", "allowed"});
  }
  for (const std::string flag : {"--seed ", "--evict-seed "}) {
    for (const std::string value : {"1.5", "x", "-2", "18446744073709551616"}) {
      expect_usage_error(run(flag + value), {flag.substr(0, flag.size() - 1), "allowed"});
    }
  }
  expect_usage_error(run("--temp nan"), {"--temp", "allowed"});
  expect_usage_error(run("--temp 0.0001"), {"--temp", "0.001 to 100"});
  expect_usage_error(run("--top-p 0"), {"--top-p", "allowed", "from 0.000001 to 1"});
  expect_usage_error(run("--repeat-penalty 0"), {"from 0.01 to 100"});
  expect_usage_error(run("--seed 1 --seed 2"), {"--seed is given more than once"});
  expect_usage_error(run("hi --seed", ""), {"--seed has no value"});
  expect_usage_error(run("--max-tokens 0"), {"--max-tokens", "allowed"});
  expect_usage_error(vase("run --threads 0 --model " + model_.path() + " hi"), {"--threads", "allowed"});
  expect_usage_error(run("--stop ''"), {"stop"});
  expect_usage_error(run("--stop="), {"--stop=", "no value"});
  expect_usage_error(run("--trigger parity"), {"prefill = dense"});
}

TEST_F(Cli, WhatIsRepeatedInErrorsIsPrintable) {
  for (const std::string flag : {"--policy ", "--path ", "--kv-budget ", "--protect ", "--file ", "--"}) {
    const Outcome o = run(flag + "\"$(printf 'a\\n\\033b')\"");
    EXPECT_NE(o.code, 0);
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.err.find('\033'), std::string::npos) << o.err;
  }
}

TEST_F(Cli, ProtectAddsRulesAndMayBeRepeated) {
  const auto policy = [&](const std::string& flags) {
    const Outcome o = run("--json --max-tokens 1 --kv-budget 200 " + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? nlohmann::json::parse(o.out)["policy"].get<std::string>() : "";
  };
  EXPECT_EQ(policy("--policy random --protect prompt --protect sinks:8").find("protect=sinks:8,prompt "), 0u);
  EXPECT_EQ(policy("--policy 'random protect+=sinks:2' --protect prompt").find("protect=sinks:2,prompt "),
            0u);
  expect_usage_error(run("--protect 'prompt score=uniform'"), {"--protect", "blanks"});
}

TEST_F(Cli, FullTakesNoFlagsOfEviction) {
  for (const std::string flag :
       {"--kv-budget 300", "--kv-buffer 32", "--kv-period 8", "--kv-layers pyramid", "--protect prompt",
        "--kv-stagger off", "--prefill dense", "--trigger parity", "--positions cache"}) {
    const std::string name = flag.substr(0, flag.find(' '));
    if (name == "--kv-stagger" || name == "--prefill" || name == "--trigger" || name == "--positions") {
      expect_usage_error(run("--policy full " + flag), {name, "never evicts", "leave it out"});
      continue;
    }
    expect_usage_error(run("--policy full " + flag), {name, "never evicts", "--ctx", "--kv-budget-mb"});
    expect_usage_error(vase("info --policy full " + flag + " " + model_.path()), {name});
    expect_usage_error(vase("bench --policy full " + flag + " --model " + model_.path()), {name});
  }
  EXPECT_EQ(run("--policy full --ctx 500 --max-tokens 1").code, 0);
}

TEST_F(Cli, TheAuthorsBehaviourCanBeAskedFor) {
  const std::string log = test::temporary_path(".jsonl");
  const Outcome o =
      run("--json --temp 0 --max-tokens 200 --kv-budget 128 --kv-buffer 32 --trigger parity --prefill dense "
          "--policy 'vase-attnv score=attention:divisor=fixed order=score' --log-evictions " +
          log);
  ASSERT_EQ(o.code, 0) << o.err;
  std::ifstream in(log);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(nlohmann::json::parse(line)["kept"].size(), 128u);
  // 201 tokens enter the cache: 2 of the prompt, 199 fed back. The first eviction comes with token 160, the
  // next 32 later.
  EXPECT_EQ(nlohmann::json::parse(o.out)["counters"]["evicted"], 64);
  std::remove(log.c_str());
}

TEST_F(Cli, PeriodAndPositions) {
  const Outcome o = run(
      "--temp 0 --max-tokens 100 --kv-budget 64 --kv-buffer 32 --kv-period 10 --positions cache --policy streaming");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("74 slots (64 + 10)"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("positions of the cache"), std::string::npos) << o.err;
  expect_usage_error(run("--kv-period 0"), {"--kv-period", "1 to 65536"});
  expect_usage_error(run("--positions absolute"), {"--positions", "text", "cache"});
  expect_usage_error(run("--positions cache --policy 'random order=score'"), {"order=position"});
}

// Tokens seen at the evictions of each of the two layers.
TEST_F(Cli, LayersEvictAtDifferentStepsUnlessToldOtherwise) {
  const auto evictions = [&](const std::string& flags) {
    const std::string log = test::temporary_path(".jsonl");
    const Outcome o =
        run("--json --temp 0 --max-tokens 180 --kv-budget 70 --kv-buffer 32 --log-evictions " + log + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(nlohmann::json::parse(o.out)["counters"]["evictions"], 3);
    std::vector<std::vector<int>> seen(2);
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json record = nlohmann::json::parse(line);
      if (record["kv_head"] == 0) seen.at(record["layer"].get<int>()).push_back(record["seen"]);
    }
    std::remove(log.c_str());
    return seen;
  };
  using Seen = std::vector<std::vector<int>>;
  EXPECT_EQ(evictions(""), (Seen{{102, 134, 166}, {102, 118, 150}}));
  EXPECT_EQ(evictions(" --kv-stagger on"), (Seen{{102, 134, 166}, {102, 118, 150}}));
  EXPECT_EQ(evictions(" --kv-stagger off"), (Seen{{102, 134, 166}, {102, 134, 166}}));
  expect_usage_error(run("--kv-stagger maybe"), {"--kv-stagger", "on", "off"});
}

TEST_F(Cli, BudgetsThatFallOverTheLayers) {
  const Outcome o = run("--temp 0 --max-tokens 100 --kv-budget 64 --kv-buffer 32 --kv-layers pyramid:4");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("96 slots (64 + 32; mean of 120 in the first layer to 72 in the last)"), std::string::npos)
      << o.err;
  expect_usage_error(run("--kv-budget 64 --kv-buffer 32 --kv-layers pyramid"), {"leaves 33 slots", "132"});
  expect_usage_error(run("--kv-layers pyramids"), {"--kv-layers", "pyramid", "uniform"});
  expect_usage_error(run("--kv-layers pyramid:0"), {"--kv-layers", "1 to 1000"});
  expect_usage_error(run("--kv-layers uniform:2"), {"--kv-layers"});
  expect_usage_error(run("--kv-layers pyramid --prefill dense"), {"prefill = evict"});
  const Outcome info = vase("info --json --kv-budget 256 --kv-layers pyramid " + model_.path());
  EXPECT_NE(info.out.find("\"last_budget\":73"), std::string::npos) << info.out;
  EXPECT_EQ(info.out.find("\"budget\":\"128\""), std::string::npos) << "a row that cannot be asked for: " << info.out;
  const std::string text = test::temporary_path(".txt");
  std::ofstream(text) << std::string(300, 'a');
  const std::string kl =
      "eval kl --json --model " + model_.path() + " --text " + text + " --kv-layers pyramid --kv-budget ";
  expect_usage_error(vase(kl + "100"), {"smallest budget", "164"});
  EXPECT_EQ(vase(kl + "200").code, 0);
  std::remove(text.c_str());
}

TEST_F(Cli, UnknownSimdTargetIsRefused) {
  const Outcome o = vase("info " + model_.path() + " </dev/null", "VASE_SIMD=AVX9 ");
  expect_usage_error(o, {"AVX9", "EMU128"});
}

TEST_F(Cli, TooSmallNamesTheSmallestThatWorks) {
  expect_usage_error(run("--kv-budget 10"), {"smallest", "69"});
  expect_usage_error(run("--kv-budget-mb 0.01"), {"smallest"});
}

TEST_F(Cli, UnknownNamesGetTheNearest) {
  expect_usage_error(run("--kv-budgt 256"), {"--kv-budgt", "--kv-budget"});
  expect_usage_error(run("--policy vase-atnv"), {"vase-atnv", "vase-attnv"});
  expect_usage_error(run("--protect promt"), {"promt", "prompt"});
  expect_usage_error(run("--path fuse"), {"fused"});
  expect_usage_error(run("--kv-type f61"), {"f16"});
  expect_usage_error(run("--kv-type q8_0,q8"), {"q8_0", "bf16"});
  expect_usage_error(run("--prefill evit"), {"evict"});
  expect_usage_error(vase("rnu"), {"run"});
}

TEST_F(Cli, BadPrompts) {
  expect_usage_error(run("", "''"), {"empty"});
  expect_usage_error(run("", ""), {"empty"});
  expect_usage_error(run("", "\"$(printf 'ab\\377')\""), {"UTF-8", "byte 2"});
  for (const std::string flag : {"--system", "--stop"}) {
    expect_usage_error(vase("run --model /nonexistent " + flag + " \"$(printf 'ab\\377')\" hi"),
                       {flag, "UTF-8", "byte 2"});
  }
  expect_usage_error(vase("run --model /nonexistent --stop '' hi"), {"--stop", "empty"});
  const Outcome too_long = run("--ctx 5", "0123456789");
  expect_usage_error(too_long, {"10 tokens", "5"});
  EXPECT_EQ(too_long.err.find("KV memory"), std::string::npos);
  expect_usage_error(run("--file /tmp x"), {});
  expect_usage_error(run("--file /", ""), {"directory"});
  EXPECT_EQ(run("--file /nonexistent", "").err, "vase: cannot read --file /nonexistent: No such file or directory\n");
  expect_usage_error(run("one two"), {"quotes"});
}

TEST_F(Cli, BadModels) {
  const std::string text = test::temporary_path(".gguf"), cut = test::temporary_path(".gguf");
  std::ofstream(text) << "<!DOCTYPE html>";
  std::filesystem::copy_file(model_.path(), cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  for (const std::string& path :
       {text, cut, std::string("/"), std::string("/nonexistent.gguf"), std::string("/dev/null")}) {
    for (const std::string& command : {"run --model " + path + " hi", "info " + path}) {
      const Outcome o = vase(command);
      EXPECT_TRUE(o.code == 1 || o.code == 2) << command << ": " << o.code;
      EXPECT_EQ(o.out, "");
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
      EXPECT_EQ(o.err.rfind("vase: ", 0), 0u) << o.err;
    }
  }
  std::remove(text.c_str());
  std::remove(cut.c_str());
}

TEST_F(Cli, FullDiskIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string flags = " --max-tokens 3 --raw --model " + model_.path() + " hi";
  for (const std::string& arguments :
       {"run" + flags, "run --json" + flags, "info " + model_.path(), "info --json " + model_.path(),
        "bench --json --tokens 1 --repeats 1 --model " + model_.path(), std::string("--version"),
        std::string("--help"), std::string("run --help")}) {
    const Outcome o = vase(arguments, "", "/dev/full");
    EXPECT_EQ(o.code, 1) << arguments;
    EXPECT_NE(o.err.find("vase: cannot write to standard output: No space left"), std::string::npos) << o.err;
  }
  EXPECT_EQ(run("--max-tokens 2 --dump-logits /dev/full").code, 1);
}

TEST_F(Cli, InterruptGivesThePartialSummary) {
  const Outcome o =
      vase("run --raw --ignore-eos --max-tokens 10000000 --model " + model_.path() + " hi </dev/null",
           "timeout --foreground --preserve-status -s INT 2 ");
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("finish: cancelled"), std::string::npos) << o.err;
  EXPECT_GT(o.out.size(), 0u);
}

TEST_F(Cli, WarnsOfWhatWillHurt) {
  EXPECT_NE(run("--max-tokens 1 --kv-budget 70").err.find("warning: a budget of 70"), std::string::npos);
  EXPECT_NE(run("--max-tokens 5000").err.find("trained on 4096"), std::string::npos);
  const std::string longer(200, 'x');
  EXPECT_NE(run("--max-tokens 1 --kv-budget 130", longer).err.find("--protect prompt"), std::string::npos);
  EXPECT_EQ(run("--max-tokens 1").err.find("warning"), std::string::npos);
  // Budget 264, buffer 64: 200 older tokens fit, 199 of them protected.
  const auto dropped = [&](int budget, const std::string& flags) {
    const Outcome o = run("--max-tokens 1 --kv-budget " + std::to_string(budget) + " " + flags, longer);
    return o.err.find("parts of the prompt will be dropped") != std::string::npos;
  };
  EXPECT_FALSE(dropped(264, ""));
  EXPECT_TRUE(dropped(263, ""));
  EXPECT_TRUE(dropped(264, "--protect prompt"));
  EXPECT_FALSE(dropped(265, "--protect prompt"));
  EXPECT_TRUE(dropped(263, "--protect prompt:first=4"));
}

TEST_F(Cli, TellsWhatWasLostOnTheWay) {
  const std::string longer(300, 'x');
  EXPECT_NE(run("--max-tokens 1 --kv-budget 140 --protect prompt", longer)
                .err.find("not all protected tokens fitted"),
            std::string::npos);
  EXPECT_EQ(run("--max-tokens 1 --kv-budget 140", longer).err.find("fitted"), std::string::npos);
}

}  // namespace
}  // namespace vase
