// `vase eval run`, `show` and `merge` as a user meets them: kills, interrupts, resuming, bad input.
#include <random>

#include "cli/eval_run_fixture.h"

namespace vase {
namespace {

TEST_F(CliEvalRun, TenKillsChangeNothing) {
  constexpr int kSamples = 8;
  const Outcome whole = vase(random_run("whole", "", kSamples));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::map<std::string, json> expected = lines("whole");
  ASSERT_EQ(expected.size(), 5u * kSamples * 2);

  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int kills = 0; kills < 10; ++kills) {
    Background process(random_run("killed", "", kSamples));
    // Up to three lines further and a random moment after that, so that there is work left for ten kills.
    wait_for_lines(process, "killed", line_count("killed") + random() % 4);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ASSERT_TRUE(process.running()) << "finished before kill " << kills;
    EXPECT_EQ(process.end(SIGKILL), -SIGKILL);
  }
  EXPECT_LT(line_count("killed"), expected.size());
  const Outcome last = vase(random_run("killed", "", kSamples));
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(lines("killed"), expected);
}

TEST_F(CliEvalRun, NeitherBatchNorOrderNorThreadsMatter) {
  ASSERT_EQ(vase(random_run("three")).code, 0);
  std::string other = random_run("one");
  other.replace(other.find("--sequences 3"), 13, "--sequences 1");
  other.replace(other.find("--threads 1"), 11, "--threads 2");
  ASSERT_EQ(vase(other).code, 0);
  EXPECT_EQ(lines("one"), lines("three"));
}

TEST_F(CliEvalRun, ATornLineIsGeneratedAgain) {
  ASSERT_EQ(vase(random_run("out")).code, 0);
  const std::map<std::string, json> expected = lines("out");
  fs::resize_file(path("out/results.jsonl"), fs::file_size(path("out/results.jsonl")) - 40);
  const Outcome o = vase(random_run("out"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("was torn"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("29 texts are there already"), std::string::npos) << o.err;
  EXPECT_EQ(lines("out"), expected);
}

TEST_F(CliEvalRun, AFinishedRunIsOnlyShown) {
  const Outcome first = vase(right_run("out"));
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string before = contents(path("out/results.jsonl"));
  const Outcome again = vase(right_run("out")), shown = vase("eval show " + path("out"));
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(shown.out, first.out);
  EXPECT_EQ(contents(path("out/results.jsonl")), before);
}

TEST_F(CliEvalRun, TheTableAndItsJson) {
  const Outcome o = vase(right_run("out", "--policy full --policy random --kv-budget 40 --kv-buffer 8"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| problems | full | - | 5 | 5 | 100.0 ± 0.0 |"), std::string::npos) << o.out;
  EXPECT_NE(
      o.out.find("| problems | random | 40 | 5 | 5 | 100.0 ± 0.0 |  |  | 100.0 | +0.0 [?] | 1 |"),
      std::string::npos)
      << o.out;
  const json shown = json::parse(vase("eval show --json " + path("out")).out);
  EXPECT_EQ(shown["folders"][0]["complete"], true);
  ASSERT_EQ(shown["rows"].size(), 2u);
  EXPECT_EQ(shown["rows"][0]["pass_at_1"], 1.0);
  EXPECT_EQ(shown["rows"][0]["strict"], 1.0);
  EXPECT_EQ(shown["rows"][0]["generated_tokens_mean"], 10.0);
  EXPECT_TRUE(shown["rows"][0]["against_full"].is_null());
  EXPECT_EQ(shown["rows"][1]["against_full"]["problems"], 5);
  EXPECT_GT(shown["rows"][1]["kv_bytes"].get<uint64_t>(), 0u);
}

TEST_F(CliEvalRun, LoopsAreStoppedAndCounted) {
  const test::TinyModel looping{{.embedding = 512, .cycle = {'a', 'b', 'c', 'd', 'e', 'f', 'g'}}};
  const auto ask = [&](const std::string& out, const std::string& flags) {
    return vase(
        "eval run --raw --greedy --threads 1 --policy random --kv-budget 40 --kv-buffer 8 --problems 2 "
        "--max-tokens 700 --model " +
        looping.path() + " --task jsonl=" + problems_ + " --out " + path(out) + flags);
  };
  ASSERT_EQ(ask("on", " --stop-loops 4").code, 0);
  ASSERT_EQ(ask("off", "").code, 0);
  for (const auto& [key, line] : lines("on")) {
    EXPECT_EQ(line["finish"], "repetition");
    EXPECT_EQ(line["label"], "loop");
    EXPECT_EQ(line["generated_tokens"], 512);
  }
  for (const auto& [key, line] : lines("off")) EXPECT_EQ(line["finish"], "length");
  EXPECT_EQ(json::parse(contents(path("on/config.json")))["config"]["stop_loops"], 4);
  EXPECT_FALSE(json::parse(contents(path("off/config.json")))["config"].contains("stop_loops"));
  const json shown = json::parse(vase("eval show --json " + path("on")).out);
  EXPECT_EQ(shown["rows"][0]["loop"], 1.0);
}

TEST_F(CliEvalRun, LinesAreRecordedGenerations) {
  ASSERT_EQ(vase(right_run("out", "--problems 1")).code, 0);
  const json line = json::parse(contents(path("out/results.jsonl")));
  EXPECT_EQ(line["text"], "\\boxed{7}");
  EXPECT_EQ(line["extracted"], "7");
  EXPECT_EQ(line["finish"], "eos");
  const Outcome kl = vase("eval kl --threads 1 --model " + right_.path() + " --text " +
                          path("out/results.jsonl") + " --policy random --kv-budget 24 --kv-buffer 8");
  EXPECT_EQ(kl.code, 0) << kl.err;
  EXPECT_NE(kl.out.find("| random | 24 |"), std::string::npos) << kl.out;
}

TEST_F(CliEvalRun, ShardsMergeToTheWhole) {
  ASSERT_EQ(vase(random_run("whole")).code, 0);
  for (const std::string i : {"1", "2"})
    ASSERT_EQ(vase(random_run("part" + i, "--shard " + i + "/2")).code, 0);
  EXPECT_EQ(lines("part1").size() + lines("part2").size(), 30u);
  const Outcome o = vase("eval merge " + path("merged") + " " + path("part2") + " " + path("part1"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("30 of 30 texts"), std::string::npos) << o.err;
  EXPECT_EQ(lines("merged"), lines("whole"));
  const json commands = json::parse(contents(path("merged/config.json")))["commands"];
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].back(), "2/2");
  EXPECT_EQ(commands[1].back(), "1/2");
  // It is a folder like any other, down to going on in it.
  EXPECT_EQ(vase(random_run("merged")).code, 0);
  expect_usage_error(vase("eval merge " + path("merged") + " " + path("part1")),
                     {"merged", "not an empty folder"});
  ASSERT_EQ(vase(right_run("other")).code, 0);
  expect_usage_error(vase("eval merge " + path("new") + " " + path("part1") + " " + path("other")),
                     {"another configuration"});
  expect_usage_error(vase("eval merge " + path("new")), {"give the folders to merge"});
  expect_usage_error(vase("eval merge"), {"the folder to make"});
  EXPECT_FALSE(fs::exists(path("new")));
  fs::resize_file(path("part1/results.jsonl"), fs::file_size(path("part1/results.jsonl")) - 5);
  const Outcome torn = vase("eval merge " + path("new") + " " + path("part1") + " " + path("part2"));
  EXPECT_EQ(torn.code, 0) << torn.err;
  EXPECT_NE(torn.err.find("the last line of " + path("part1/results.jsonl") + " was torn and left out"), std::string::npos)
      << torn.err;
}

TEST_F(CliEvalRun, AnotherConfigurationIsRefused) {
  ASSERT_EQ(vase(right_run("out")).code, 0);
  const std::string before = contents(path("out/results.jsonl"));
  for (const std::string flags : {"--kv-type f32", "--system x", "--policy random", "--seed 5",
                                  "--instruction ' Go.'", "--problems 3"}) {
    expect_usage_error(vase(right_run("out", flags)), {"another configuration", "in this run and"});
  }
  EXPECT_EQ(contents(path("out/results.jsonl")), before);
}

TEST_F(CliEvalRun, TwoRunsDoNotShareAFolder) {
  Background first(random_run("out"));
  wait_for_lines(first, "out", 1);
  ASSERT_TRUE(first.running());
  first.pause();
  const Outcome second = vase(random_run("out"));
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("another process is writing"), std::string::npos) << second.err;
}

TEST_F(CliEvalRun, AnInterruptKeepsWhatIsFinished) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Background process(random_run("out"));
    wait_for_lines(process, "out", line_count("out") + 2);
    ASSERT_TRUE(process.running());
    EXPECT_EQ(process.end(signal), 130);
    EXPECT_GE(lines("out").size(), 2u);
  }
  const Outcome shown = vase("eval show " + path("out"));
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find(" of 30 texts."), std::string::npos) << shown.out;
  EXPECT_EQ(vase(random_run("out")).code, 0);
  ASSERT_EQ(vase(random_run("whole")).code, 0);
  EXPECT_EQ(lines("out"), lines("whole"));
}

TEST_F(CliEvalRun, BadFlagsAreRefusedBeforeAnythingBegins) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"--samples 3", {"--samples", "the same text"}},
      {"--temperature 1", {"--greedy"}},
      {"--seed -1", {"--seed is '-1'; allowed: whole numbers from 0 to 18446744073709551615\n"}},
      {"--evict-seed x", {"--evict-seed is 'x'; allowed: whole numbers from 0 to 18446744073709551615\n"}},
      {"--shard 3/2", {"--shard", "allowed"}},
      {"--shard 2", {"--shard", "i/n"}},
      {"--shard 0/2", {"--shard", "allowed"}},
      {"--policy vase-attn", {"vase-attnv"}},
      {"--policy random --policy random", {"random", "twice"}},
      {"--policy random --kv-budget 96 --kv-budget 96", {"96", "twice"}},
      {"--policy random --kv-budget 3", {"3"}},
      {"--task chain:step=4", {"step"}},
      {"--task gsm9k=" + problems_, {"gsm9k", "gsm8k"}},
      {"--task jsonl=" + problems_, {"problems", "name"}},
      {"--ids " + problems_, {"--ids", "no task has"}},
      {"--raw --system x", {"--system", "--raw"}},
      {"--grader me", {"--grader", "math-verify"}},
      {"--server http://127.0.0.1:1 --server-model m", {"--server", "--model"}},
      {"--server-model m", {"--server-model", "--server"}},
  };
  for (const auto& [flags, words] : cases) {
    expect_usage_error(vase(right_run("out", flags)), words);
    EXPECT_FALSE(fs::exists(path("out"))) << flags;
  }
  const std::string task = " --task jsonl=" + problems_ + " --out " + path("out");
  expect_usage_error(vase("eval run" + task), {"--model", "--server"});
  expect_usage_error(vase("eval run --server http://127.0.0.1:1" + task), {"--server-model"});
  const std::string server = "eval run --server http://127.0.0.1:1 --server-model m" + task;
  expect_usage_error(vase(server + " --policy random"), {"--policy does nothing with --server"});
  expect_usage_error(vase(server + " --stop-loops 4"), {"--stop-loops does nothing with --server"});
  expect_usage_error(vase(server + " --api-key-env VASE_NO_SUCH_VARIABLE"),
                     {"VASE_NO_SUCH_VARIABLE", "not set"});
  const Outcome unreachable = vase(server);
  EXPECT_EQ(unreachable.code, 1);
  EXPECT_NE(unreachable.err.find("the server at http://127.0.0.1:1: the connection failed"),
            std::string::npos)
      << unreachable.err;
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CliEvalRun, BadDataIsNamedWithFileAndLine) {
  const auto with = [&](const std::string& data) {
    std::ofstream(path("bad.jsonl")) << data;
    const Outcome o = vase("eval run --model " + right_.path() + " --task jsonl=" + path("bad.jsonl") +
                           " --out " + path("out"));
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_FALSE(fs::exists(path("out")));
    return o.err;
  };
  const std::string good = R"({"id": "x", "problem": "p", "answer": "1"})"
                           "\n";
  EXPECT_NE(with(good + "{\n").find("bad.jsonl:2"), std::string::npos);
  EXPECT_NE(with(good + R"({"id": "y", "problem": "p"})").find("bad.jsonl:2"), std::string::npos);
  EXPECT_NE(with(good + good).find("bad.jsonl:2"), std::string::npos);
  EXPECT_NE(
      with(good + R"({"id": "y", "problem": "p", "answer": "\\frac{1"})").find("bad.jsonl:2, problem y"),
      std::string::npos);
  EXPECT_NE(with("").find("bad.jsonl"), std::string::npos);
  const Outcome missing =
      vase("eval run --model " + right_.path() + " --task jsonl=/nowhere.jsonl --out " + path("out"));
  EXPECT_NE(missing.err.find("/nowhere.jsonl"), std::string::npos) << missing.err;
}

TEST_F(CliEvalRun, PromptsThatAreTooLongAreNamedBeforeAnythingRuns) {
  std::ofstream(path("long.jsonl")) << json({{"id", "x"}, {"problem", "p"}, {"answer", "1"}}).dump() << "\n"
                                    << json({{"id", "y"}, {"problem", std::string(5000, 'p')}, {"answer", "1"}}).dump();
  const Outcome o = vase("eval run --model " + right_.path() + " --task jsonl=" + path("long.jsonl") + " --out " +
                         path("out"));
  expect_usage_error(o, {"long.jsonl:2, problem y", "tokens", "4096", "--ctx"});
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CliEvalRun, OnlyTheProblemsThatAreAskedAreRead) {
  std::ofstream(problems_, std::ios::app) << R"({"id": "p9", "problem": "no answer"})";
  EXPECT_EQ(vase(right_run("all")).code, 1);
  EXPECT_EQ(vase(right_run("first", "--problems 5")).code, 0);
  std::ofstream(path("ids")) << "p1\n";
  EXPECT_EQ(vase(right_run("ids", "--problems 1 --ids " + path("ids"))).code, 1);
}

TEST_F(CliEvalRun, AFullDiskIsAnErrorAndLosesNothing) {
  const std::string arguments = random_run("out");
  const Outcome o = vase(arguments, "ulimit -f 20; ");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("results.jsonl: File too large"), std::string::npos) << o.err;
  EXPECT_NE(o.out.find("holds " + std::to_string(line_count("out")) + " of 30 texts."), std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("| full |"), std::string::npos) << o.out;
  EXPECT_GT(line_count("out"), 0u);
  EXPECT_EQ(contents(path("out/results.jsonl")).back(), '\n');
  EXPECT_EQ(vase(arguments).code, 0);
  EXPECT_EQ(lines("out").size(), 30u);
}

TEST_F(CliEvalRun, ShowRefusesWhatHoldsNoResults) {
  const Outcome none = vase("eval show " + folder_);
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("holds no results"), std::string::npos) << none.err;
  ASSERT_EQ(vase(right_run("out")).code, 0);
  for (const char* again : {"", "/", "/../out"})
    expect_usage_error(vase("eval show " + path("out") + " " + path("out") + again), {"given twice"});
}

}  // namespace
}  // namespace vase
