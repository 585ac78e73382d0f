// The hash of a configuration: what shapes results changes it, and nothing else does.
#include "eval/run/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "eval/run/cache_json.h"
#include "eval/run/hash.h"
#include "run_helpers.h"

namespace vase::eval {
namespace {

struct Configured {
  Generator generator{.model = "0123456789abcdef", .name = "tiny", .server = {}, .build = "1"};
  RunPlan plan;
  GenerationOptions options;
  std::string grader = "own";
  std::vector<std::string> command = {"--task", "x"};

  Configured() {
    plan.sources.push_back(source("a", 3));
    plan.cells = {cell("full", 0), cell("vase-attnv", 128)};
  }
  nlohmann::json json() const { return config_json(generator, plan, options, grader, command); }
  std::string hash() const { return json()["hash"]; }
};

TEST(Config, WhatShapesResultsChangesTheHash) {
  const std::string before = Configured().hash();
  const std::vector<std::function<void(Configured&)>> changes = {
      [](Configured& s) { s.generator.model = "fedcba9876543210"; },
      [](Configured& s) { s.generator.build = "2"; },
      [](Configured& s) { s.generator.server = "http://h"; },
      [](Configured& s) { s.plan.sources[0].task.name = "b"; },
      [](Configured& s) { s.plan.sources[0].task.instruction = " Stop."; },
      [](Configured& s) { s.plan.sources[0].task.problems[1].problem += "?"; },
      [](Configured& s) { s.plan.sources[0].task.problems[1].answer = "9"; },
      [](Configured& s) { s.plan.sources[0].task.problems[1].tests = "[]"; },
      [](Configured& s) { s.plan.sources[0].task.problems.pop_back(); },
      [](Configured& s) { s.plan.cells.pop_back(); },
      [](Configured& s) { s.plan.cells[1].budget = 64; },
      [](Configured& s) { s.plan.cells[1].policy = Policy::parse("vase-dkv"); },
      [](Configured& s) { s.plan.cells[1].bought = {.mib = 2}; },
      [](Configured& s) { s.options.cache.auto_types = true; },
      [](Configured& s) { s.plan.samples = 2; },
      [](Configured& s) { s.plan.seeds = 2; },
      [](Configured& s) { s.plan.seed = 1; },
      [](Configured& s) { s.plan.evict_seed = 1; },
      [](Configured& s) { s.options.cache.buffer = 16; },
      [](Configured& s) { s.options.cache.period = 16; },
      [](Configured& s) { s.options.cache.key_type = RowType::kF32; },
      [](Configured& s) { s.options.cache.value_type = RowType::kQ8_0; },
      [](Configured& s) { s.options.cache.prefill = Prefill::kDense; },
      [](Configured& s) { s.options.cache.trigger = Trigger::kParity; },
      [](Configured& s) { s.options.cache.positions = Positions::kCache; },
      [](Configured& s) { s.options.cache.layer_budgets = LayerBudgets::kPyramid; },
      [](Configured& s) { s.options.cache.stagger = false; },
      [](Configured& s) { s.options.cache.context = 100; },
      [](Configured& s) { s.options.products = Products::kGgml; },
      [](Configured& s) { s.options.engine.path = AttentionPath::kReference; },
      [](Configured& s) { s.options.session.sampling.temperature = 0; },
      [](Configured& s) { s.options.session.sampling.top_k = 20; },
      [](Configured& s) { s.options.session.sampling.top_p = 0.9f; },
      [](Configured& s) { s.options.session.sampling.min_p = 0.1f; },
      [](Configured& s) { s.options.session.max_tokens = 7; },
      [](Configured& s) { s.options.session.stops = {"x"}; },
      [](Configured& s) { s.options.session.stop_loops = 4; },
      [](Configured& s) { s.options.system = "be brief"; },
      [](Configured& s) { s.options.raw = true; },
      [](Configured& s) { s.grader = "math-verify"; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Configured changed;
    changes[i](changed);
    EXPECT_NE(changed.hash(), before) << "change " << i;
  }
}

TEST(Config, WhatChangesTheTimeAloneDoesNot) {
  Configured other;
  other.options.engine.sequences = 16;
  other.options.engine.threads = 3;
  other.options.engine.chunk = 17;
  other.plan.shards = 4;
  other.plan.shard = 2;
  other.plan.sources[0].files = {"/somewhere/else.jsonl"};
  other.plan.sources[0].task.problems[0].where = "/somewhere/else.jsonl:1";
  other.command = {"--task", "y"};
  EXPECT_EQ(other.hash(), Configured().hash());
  EXPECT_EQ(other.json()["items"], Configured().json()["items"]);
}

// A server may come back at another port.
TEST(Config, WhereTheServerIsDoesNot) {
  Configured here, there, other;
  here.generator = there.generator = {.model = "m", .name = "m", .server = "http://h:1", .build = "1"};
  there.generator.server = "http://h:2";
  other.generator = {.model = "n", .name = "n", .server = "http://h:1", .build = "1"};
  EXPECT_EQ(here.json()["config"], there.json()["config"]);
  EXPECT_EQ(here.hash(), there.hash());
  EXPECT_NE(here.hash(), other.hash());
  EXPECT_EQ(here.json()["server"], "http://h:1");
  EXPECT_EQ(there.json()["server"], "http://h:2");
  EXPECT_FALSE(Configured().json().contains("server"));
}

// Folders of earlier versions go on.
TEST(Config, TheProblemsHaveTheHashOfTheirList) {
  Configured setup;
  std::vector<Problem>& problems = setup.plan.sources[0].task.problems;
  problems[0].problem = "\"quoted\", \xc3\xa9, [1,2]";
  problems[1].tests = R"({"function": "f"})";
  problems[2].answer = "not UTF-8: \xff";
  const auto task_hash = [&]() -> std::string { return setup.json()["config"]["tasks"][0]["hash"]; };
  const auto list_hash = [&] {
    auto list = nlohmann::json::array();
    for (const Problem& p : problems) list.push_back({p.id, p.problem, p.answer, p.tests});
    return hex_digits(hash_text(list.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  };
  EXPECT_EQ(task_hash(), list_hash());
  problems.resize(1);
  EXPECT_EQ(task_hash(), list_hash());
}

TEST(Config, CommandsThatMadeTheResults) {
  using nlohmann::json;
  const json one = {"--task", "x"}, two = {"--task", "y"};
  EXPECT_EQ(commands_of(Configured().json()), std::vector<json>{one});
  EXPECT_EQ(commands_of({{"hash", "0"}, {"commands", json::array({one, two})}}), (std::vector<json>{one, two}));
  EXPECT_TRUE(commands_of(json::object()).empty());
}

TEST(Config, FilesThatAPolicyReadsCountWithWhatTheyHold) {
  const TemporaryFolder folder;
  const std::string path = folder / "stats";
  // Only the text matters here; a policy that could be parsed would need a real file.
  class Named final : public Scorer {
   public:
    explicit Named(std::string text) : text_(std::move(text)) {}
    void score(const HeadView&, RandomDraws&, PolicyScratch&, std::span<float>) const override {}
    std::string text() const override { return text_; }

   private:
    std::string text_;
  };
  Configured setup;
  setup.plan.cells[1].policy =
      Policy::parse("snapkv").with_scorer(std::make_shared<Named>("mine:stats=" + path));
  std::ofstream(path) << "one";
  const std::string before = setup.hash();
  EXPECT_EQ(setup.hash(), before);
  std::ofstream(path) << "two";
  EXPECT_NE(setup.hash(), before);
}

TEST(Config, FloatsKeepTheirDigits) {
  EXPECT_EQ(shortest(0.6f), 0.6);
  EXPECT_EQ(Configured().json()["config"]["sampling"]["top_p"].dump(), "0.95");
}

}  // namespace
}  // namespace vase::eval
