// Which generations a plan asks for, and with which seeds.
#include "eval/run/plan.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

RunPlan small_plan() {
  RunPlan plan;
  plan.sources.push_back(source("a", 3));
  plan.sources.push_back(source("b", 2));
  plan.cells = {cell("full", 0), cell("vase-attnv", 128)};
  plan.samples = 2;
  plan.seeds = 3;
  return plan;
}

TEST(Plan, EvictionSeedsCountOnlyWhereTokensAreEvicted) {
  const RunPlan plan = small_plan();
  EXPECT_EQ(items_of(plan, plan.cells[0]).size(), 5u * 2);
  EXPECT_EQ(items_of(plan, plan.cells[1]).size(), 5u * 2 * 3);
  EXPECT_EQ(count_items(plan), 5 * 2 + 5 * 2 * 3);
}

TEST(Plan, EveryProblemComesOnceBeforeAnyComesAgain) {
  const RunPlan plan = small_plan();
  const std::vector<Planned> items = items_of(plan, plan.cells[1]);
  for (size_t round = 0; round < items.size(); round += 5) {
    std::set<std::string> ids;
    for (size_t i = round; i < round + 5; ++i) ids.insert(items[i].item.problem_id);
    EXPECT_EQ(ids.size(), 5u) << round;
  }
}

TEST(Plan, PoliciesShareTheSeedsOfTheTextsAndEvictionSeedsVaryAlone) {
  const RunPlan plan = small_plan();
  std::map<std::pair<std::string, int>, uint64_t> text_seeds;
  std::set<uint64_t> evict_seeds;
  for (const Cell& one : plan.cells) {
    for (const Planned& p : items_of(plan, one)) {
      const auto [seed, is_new] =
          text_seeds.emplace(std::pair(p.item.problem_id, p.item.sample), p.item.seed);
      EXPECT_EQ(seed->second, p.item.seed) << p.item.text();
      if (one.budget > 0) evict_seeds.insert(p.item.evict_seed);
    }
  }
  EXPECT_EQ(text_seeds.size(), 10u);
  EXPECT_EQ(evict_seeds.size(), 30u);
}

TEST(Plan, TheSecondEvictionSeedIsTheFirstOfTheNextRun) {
  RunPlan plan = small_plan(), next = small_plan();
  next.evict_seed = 1;
  const auto seed_of = [](const RunPlan& p, int run) {
    for (const Planned& one : items_of(p, p.cells[1])) {
      if (one.item.run == run && one.item.problem_id == "a-1" && one.item.sample == 1)
        return one.item.evict_seed;
    }
    return uint64_t{0};
  };
  EXPECT_EQ(seed_of(plan, 1), seed_of(next, 0));
  EXPECT_NE(seed_of(plan, 0), seed_of(next, 0));
}

TEST(Plan, ShardsPartTheProblemsAndKeepTheItems) {
  RunPlan plan = small_plan();
  std::multiset<std::string> whole, parts;
  for (const Planned& p : items_of(plan, plan.cells[1]))
    whole.insert(p.item.text() + std::to_string(p.item.seed));
  plan.shards = 3;
  std::set<std::string> problems;
  for (plan.shard = 0; plan.shard < 3; ++plan.shard) {
    std::set<std::string> own;
    for (const Planned& p : items_of(plan, plan.cells[1])) {
      parts.insert(p.item.text() + std::to_string(p.item.seed));
      own.insert(p.item.problem_id);
    }
    for (const std::string& id : own) EXPECT_TRUE(problems.insert(id).second) << id;
  }
  EXPECT_EQ(whole, parts);
}

TEST(Plan, ThePromptIsTheProblemAndTheInstruction) {
  const RunPlan plan = small_plan();
  EXPECT_EQ(items_of(plan, plan.cells[0])[1].prompt(), "problem 1 Go.");
}

TEST(SelectProblems, ById) {
  std::vector<Source> sources = {source("a", 12), source("b", 2)};
  select_problems(sources, std::vector<std::string>{"a-10", "a-2"}, 0);
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].task.problems[0].id, "a-2");
  EXPECT_EQ(sources[0].task.problems[1].id, "a-10");
  EXPECT_EQ(sources[0].task.problems[1].problem, "problem 10");
}

TEST(SelectProblems, TheFirstOfEachTask) {
  std::vector<Source> sources = {source("a", 12), source("b", 2)};
  select_problems(sources, {}, 3);
  EXPECT_EQ(sources[0].task.problems.size(), 3u);
  EXPECT_EQ(sources[1].task.problems.size(), 2u);
}

TEST(SelectProblems, AnUnknownIdIsRefused) {
  std::vector<Source> sources = {source("a", 2)};
  try {
    select_problems(sources, std::vector<std::string>{"a-1", "a-7"}, 0);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(e.what()).find("'a-7'"), std::string::npos) << e.what();
  }
}

TEST(OpenSource, KnowsWhereAProblemStandsAfterOthersWereLeftOut) {
  const TemporaryFolder folder;
  const std::string path = folder / "mine.jsonl";
  std::ofstream(path) << R"({"id": "x", "problem": "p", "answer": "1"}

{"id": "y", "problem": "q", "answer": "2"}
)";
  std::vector<Source> sources;
  sources.push_back(open_source("jsonl=" + path, 1, 0));
  EXPECT_EQ(sources[0].task.name, "mine");
  select_problems(sources, std::vector<std::string>{"y"}, 0);
  EXPECT_EQ(sources[0].place_of(sources[0].task.problems[0]), path + ":3, problem y");
}

class AddSource : public testing::Test {
 protected:
  // Adds a file of problems 1 to `count` of HMMT, which numbers them from 1 in every month.
  void add(const std::string& month, int count, const std::string& reader = "hmmt") {
    std::ofstream out(folder_ / (month + ".jsonl"));
    for (int i = 1; i <= count; ++i) {
      out << nlohmann::json(
                 {{"id", std::to_string(i)}, {"problem", month + std::to_string(i)}, {"answer", "1"}})
          << "\n";
    }
    out.close();
    add_source(sources_, open_source(reader + "=" + (folder_ / (month + ".jsonl")), 1, 0));
  }
  std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      return e.what();
    }
    return "";
  }

  const TemporaryFolder folder_;
  std::vector<Source> sources_;
};

TEST_F(AddSource, FilesOfOneDataSetAreOneTask) {
  add("feb", 2);
  add("nov", 3);
  add("jan", 1);
  ASSERT_EQ(sources_.size(), 1u);
  EXPECT_EQ(sources_[0].task.name, "hmmt");
  std::vector<std::string> ids, problems;
  for (const Problem& problem : sources_[0].task.problems) {
    ids.push_back(problem.id);
    problems.push_back(problem.problem);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"1", "2", "1 (2)", "2 (2)", "3", "1 (3)"}));
  EXPECT_EQ(problems, (std::vector<std::string>{"feb1", "feb2", "nov1", "nov2", "nov3", "jan1"}));
  EXPECT_EQ(sources_[0].place_of(sources_[0].task.problems[3]), folder_ / "nov.jsonl:2, problem 2 (2)");
  select_problems(sources_, std::vector<std::string>{"2 (2)"}, 0);
  EXPECT_EQ(sources_[0].task.problems[0].problem, "nov2");
}

TEST_F(AddSource, WhatWouldMixResultsUpIsRefused) {
  add("feb", 2);
  EXPECT_NE(refusal([&] { add("feb", 2); }).find("feb.jsonl twice"), std::string::npos);
  add("mine", 2, "jsonl");
  EXPECT_NE(refusal([&] { add("mine", 2, "jsonl"); }).find("two tasks have the name 'mine'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { add("hmmt", 2, "jsonl"); }).find("two tasks have the name 'hmmt'"),
            std::string::npos);
  add_source(sources_, open_source("chain", 2, 0));
  EXPECT_NE(refusal([&] { add_source(sources_, open_source("chain", 2, 0)); }), "");
  EXPECT_EQ(sources_.size(), 3u);
}

TEST(OpenSource, AProceduralTaskIsNamedByItsText) {
  const Source chain = open_source("chain", 2, 5);
  EXPECT_EQ(chain.task.problems.size(), 2u);
  EXPECT_EQ(chain.place_of(chain.task.problems[1]),
            chain.task.name + ", problem " + chain.task.problems[1].id);
}

}  // namespace
}  // namespace vase::eval
