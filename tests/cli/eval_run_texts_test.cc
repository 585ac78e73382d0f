// What `vase eval run` makes of tasks and texts: several files, thinking, texts that nobody can judge.
#include <algorithm>

#include "cli/eval_run_fixture.h"

namespace vase {
namespace {

// A template that ends in "<think>\n": what the model says until </think> is no answer, though it has no
// <think>.
TEST_F(CliEvalRun, ThinkingThatTheTemplateOpensHasToEnd) {
  const std::vector<int32_t> guess = {'\\', 'b', 'o', 'x', 'e', 'd', '{', '7', '}'};
  const auto line_of = [&](std::vector<int32_t> cycle, const std::string& out, const std::string& flags) {
    const test::TinyModel model{{.embedding = 512, .cycle = std::move(cycle), .opens_thinking = true}};
    const Outcome o = vase("eval run --threads 1 --model " + model.path() + " --task jsonl=" + problems_ +
                           " --problems 1 --greedy --out " + path(out) + " " + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    const json run = json::parse(
        vase("run --json --temp 0 --threads 1 --model " + model.path() + " " + flags + " hi").out);
    json line = json::parse(contents(path(out) + "/results.jsonl"));
    EXPECT_EQ(run["label"], line["label"]);
    return line;
  };
  std::vector<int32_t> ended = guess, finished = {test::kEndThink};
  ended.push_back(test::kImEnd);
  finished.insert(finished.end(), ended.begin(), ended.end());
  for (const json& line :
       {line_of(guess, "cut", "--max-tokens 9"), line_of(ended, "ended", "--max-tokens 50")}) {
    EXPECT_EQ(line["text"], "\\boxed{7}");
    EXPECT_TRUE(line["extracted"].is_null());
    EXPECT_EQ(line["right"], false);
    EXPECT_EQ(line["label"], "truncated");
  }
  const json line = line_of(finished, "finished", "--max-tokens 50");
  EXPECT_EQ(line["text"], "</think>\\boxed{7}");
  EXPECT_EQ(line["right"], true);
  EXPECT_EQ(line["label"], "ok");
}

TEST_F(CliEvalRun, FilesOfOneDataSetAreOneTask) {
  for (const std::string month : {"feb", "nov"}) {
    std::ofstream out(path(month + ".jsonl"));
    for (const int id : {1, 2}) {
      out << json({{"problem_idx", id}, {"problem", month}, {"answer", month == "feb" ? "7" : "8"}}) << "\n";
    }
  }
  const std::string arguments = "eval run --threads 1 --model " + right_.path() +
                                " --task hmmt=" + path("feb.jsonl") + " --task hmmt=" + path("nov.jsonl") +
                                " --greedy --max-tokens 50 --out " + path("out");
  const Outcome o = vase(arguments);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("| hmmt | vase | 128 | 4 | 4 | 50.0 ± "), std::string::npos) << o.out;
  std::map<std::string, bool> right;
  for (const auto& [key, line] : lines("out")) right[line["id"]] = line["right"];
  EXPECT_EQ(right,
            (std::map<std::string, bool>{{"1", true}, {"2", true}, {"1 (2)", false}, {"2 (2)", false}}));
  const Outcome again = vase(arguments);
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("4 texts are there already"), std::string::npos) << again.err;
  EXPECT_EQ(line_count("out"), 4u);
}

class CliEvalRunGrader : public CliEvalRun {
 protected:
  // A run with one problem more, p5. In place of math-verify a program that begins with the one command and ends at p5
  // after the other.
  std::string run_that_ends_grader(const std::string& first, const std::string& last) const {
    std::ofstream(problems_, std::ios::app) << json({{"id", "p5"}, {"problem", "?"}, {"answer", "9"}});
    std::ofstream(path("python")) << "#!/bin/sh\n" + first + "\necho '{\"version\": \"9.9\"}'\nwhile read -r line; do\n"
                                     "  case $line in *9*7*) " + last + "; exit 3;;\n"
                                     "  *) echo '{\"same\": true}';; esac\ndone\n";
    fs::permissions(path("python"), fs::perms::owner_all);
    return right_run("out", "--grader math-verify --python " + path("python"));
  }
};

TEST_F(CliEvalRunGrader, ATextThatItCannotJudgeIsKeptAndCountsAsWrong) {
  const std::string arguments = run_that_ends_grader(":", ":");
  const Outcome first = vase(arguments);
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_NE(first.err.find("1 of 6 texts could not be judged and count as wrong"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("  p5 of problems, vase at 128, run 0, sample 0: math-verify took too long"),
            std::string::npos)
      << first.err;
  EXPECT_NE(first.out.find("1 texts could not be judged by the grader"), std::string::npos) << first.out;
  const std::map<std::string, json> all = lines("out");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_TRUE(all.rbegin()->second["right"].is_null());
  EXPECT_EQ(all.rbegin()->second["extracted"], "7");
  const Outcome again = vase(arguments + " --json");
  EXPECT_EQ(again.code, 0) << again.err;
  const json row = json::parse(again.out)["rows"][0];
  EXPECT_EQ(row["unjudged"], 1);
  EXPECT_NEAR(row["pass_at_1"], 5.0 / 6, 1e-9);
}

TEST_F(CliEvalRunGrader, ATextIsKeptThoughItCannotBeStartedAgain) {
  const std::string gone = path("gone");
  const Outcome o = vase(run_that_ends_grader("if [ -e " + gone + " ]; then exit 3; fi", "touch " + gone));
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find("cannot load math-verify"), std::string::npos) << o.err;
  const std::map<std::string, json> kept = lines("out");
  ASSERT_FALSE(kept.empty());
  const auto last = std::ranges::find(kept, "p5", [](const auto& entry) { return entry.second["id"]; });
  ASSERT_NE(last, kept.end());
  EXPECT_TRUE(last->second["right"].is_null());
  EXPECT_EQ(last->second["text"], "\\boxed{7}");
}

// Texts of one token, so that none comes upon a # of its own.
TEST_F(CliEvalRun, AnItemWithoutNumbersIsNamedAndTheOtherCellsGoOn) {
  std::ofstream(problems_, std::ios::app) << json({{"id", "p5"}, {"problem", "#"}, {"answer", "7"}});
  const test::TinyModel broken{{.nan_token = '#'}};
  const std::string arguments =
      "eval run --threads 1 --model " + broken.path() + " --task jsonl=" + problems_ +
      " --policy full --policy random --kv-budget 40 --kv-buffer 8 --max-tokens 1 --out " + path("out");
  for (int run = 0; run < 2; ++run) {
    const Outcome o = vase(arguments);
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_NE(o.err.find("2 of 12 texts are left out"), std::string::npos) << o.err;
    for (const std::string cell : {"full", "random at 40"}) {
      EXPECT_NE(o.err.find("  p5 of problems, " + cell + ", run 0, sample 0: the model gave NaN"),
                std::string::npos)
          << o.err;
    }
    EXPECT_EQ(lines("out").size(), 10u);
  }
}

}  // namespace
}  // namespace vase
