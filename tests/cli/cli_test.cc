// The `vase` program as a user meets it: exit codes, what goes to which stream, and every bad input.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/tiny_gguf.h"

namespace vase {
namespace {

struct Outcome {
  int code = -1;
  std::string out, err;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs `vase <arguments>` through the shell; standard input is empty unless the arguments redirect it.
Outcome vase(const std::string& arguments, const std::string& before = "") {
  const std::string out = test::temporary_path(".out"), err = test::temporary_path(".err");
  const std::string command = before + VASE_BINARY " " + arguments + " >" + out + " 2>" + err + (before.empty() ? " </dev/null" : "");
  const int status = std::system(command.c_str());
  Outcome result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
  std::remove(out.c_str());
  std::remove(err.c_str());
  return result;
}

class Cli : public testing::Test {
 protected:
  // A model that says "abcdef" for ever.
  test::TinyModel model_{{.embedding = 512, .cycle = {'a', 'b', 'c', 'd', 'e', 'f'}}};

  Outcome run(const std::string& flags, const std::string& prompt = "hi") const {
    return vase("run --raw --threads 1 --model " + model_.path() + " " + flags + (prompt.empty() ? "" : " " + prompt));
  }
  // One line, nothing on standard output, every word in the message.
  void expect_usage_error(const Outcome& o, const std::vector<std::string>& words) const {
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(o.out, "");
    const std::string message = o.err.substr(std::min(o.err.size(), o.err.rfind("vase: ")));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << o.err;
    for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << "\n" << o.err;
  }
};

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
  const Outcome input = vase("run --raw --temp 0 --max-tokens 4 --json --model " + model_.path(), "printf 'hi\\n' | ");
  std::remove(path.c_str());
  for (const Outcome& o : {file, input}) {
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(nlohmann::json::parse(o.out)["prompt_tokens"], 2);
  }
}

TEST_F(Cli, JsonIsOneCompleteObject) {
  const Outcome o = run("--json --temp 0 --max-tokens 300 --kv-budget 70 --seed 18446744073709551615 --evict-seed 0");
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

TEST_F(Cli, StopStringsEndTheText) {
  const Outcome o = run("--temp 0 --max-tokens 50 --stop xyz --stop def");
  EXPECT_EQ(o.out, "abc");
  EXPECT_NE(o.err.find("finish: stop"), std::string::npos) << o.err;
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
  const Outcome o = run("--temp 0 --max-tokens 200 --kv-budget 70 --log-evictions " + log + " --dump-logits " + dump);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(std::filesystem::file_size(dump), 200u * 4 * test::kTinyVocabulary);
  std::ifstream in(log);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(nlohmann::json::parse(line)["kept"].size(), 70u);
  std::remove(log.c_str());
  std::remove(dump.c_str());
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
  expect_usage_error(run("--top-p 0"), {"--top-p", "allowed"});
  expect_usage_error(run("--max-tokens 0"), {"--max-tokens", "allowed"});
  expect_usage_error(vase("run --threads 0 --model " + model_.path() + " hi"), {"--threads", "allowed"});
  expect_usage_error(run("--stop ''"), {"stop"});
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
  expect_usage_error(run("--prefill evit"), {"evict"});
  expect_usage_error(vase("rnu"), {"run"});
}

TEST_F(Cli, BadPrompts) {
  expect_usage_error(run("", "''"), {"empty"});
  expect_usage_error(run("", ""), {"empty"});
  expect_usage_error(run("", "\"$(printf 'ab\\377')\""), {"UTF-8", "byte 2"});
  expect_usage_error(run("--ctx 5", "0123456789"), {"10 tokens", "5"});
  expect_usage_error(run("--file /tmp x"), {});
  expect_usage_error(run("--file /", ""), {"directory"});
  EXPECT_EQ(run("--file /nonexistent", "").code, 1);
  expect_usage_error(run("one two"), {"quotes"});
}

TEST_F(Cli, BadModels) {
  const std::string text = test::temporary_path(".gguf"), cut = test::temporary_path(".gguf");
  std::ofstream(text) << "<!DOCTYPE html>";
  std::filesystem::copy_file(model_.path(), cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  for (const std::string& path : {text, cut, std::string("/"), std::string("/nonexistent.gguf"), std::string("/dev/null")}) {
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
  const std::string command = std::string(VASE_BINARY) + " run --raw --model " + model_.path() +
                              " --max-tokens 3 hi >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
}

TEST_F(Cli, InterruptGivesThePartialSummary) {
  const Outcome o = vase("run --raw --ignore-eos --max-tokens 10000000 --model " + model_.path() + " hi </dev/null",
                         "timeout --preserve-status -s INT 2 ");
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
}

TEST_F(Cli, InfoShowsShapeAndCosts) {
  const Outcome text = vase("info " + model_.path()), json = vase("info --json " + model_.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("KV per token"), std::string::npos);
  ASSERT_EQ(json.code, 0) << json.err;
  const nlohmann::json j = nlohmann::json::parse(json.out);
  EXPECT_EQ(j["trained_context"], 4096);
  EXPECT_EQ(j["budgets"].back()["budget"], "full");
  EXPECT_EQ(j["budgets"].back()["memory"]["capacity"], 4096);
}

}  // namespace
}  // namespace vase
