// Batched generation: what comes out of an item depends on the item alone.
#include "eval/run/cell_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

class CellRuns : public testing::Test {
 protected:
  CellRuns() {
    plan_.sources.push_back(source("a", 6));
    plan_.cells = {cell("full", 0), cell("vase-attnv", 40)};
    plan_.samples = 2;
    options_.cache.buffer = 8;
    options_.engine = {.sequences = 3, .threads = 1};
    options_.session.max_tokens = 60;
  }

  using Texts = std::map<std::string, std::vector<int32_t>>;

  Texts generate(const std::vector<Planned>& items, const Cell& one) {
    const Prompts prompts(*model_, plan_, options_);
    Texts texts;
    results_.clear();
    EXPECT_TRUE(
        CellRun(model_, one, options_, prompts)
            .run(items, {.on_finished =
                             [&](const Planned& planned, Result r, Generation g) {
                               EXPECT_EQ(r.item.key(), planned.item.key());
                               texts[r.item.text()] = g.tokens;
                               results_.push_back(r);
                               generations_.push_back(g);
                             },
                         .on_refused = [&](const Planned& planned,
                                           const std::string& why) { refused_[planned.item.text()] = why; },
                         .on_tick = [](int, int64_t) {},
                         .stop = [] { return false; }}));
    return texts;
  }

  test::TinyModel file_;
  std::shared_ptr<const Model> model_ = Model::load(file_.path());
  RunPlan plan_;
  GenerationOptions options_;
  std::vector<Result> results_;
  std::vector<Generation> generations_;
  std::map<std::string, std::string> refused_;
};

TEST_F(CellRuns, PromptsBeyondTheTrainedContextAreRefused) {
  const test::TinyModel file{{.context = 128}};
  const auto model = Model::load(file.path());
  options_.raw = true;
  plan_.sources[0].task.problems[4].problem = std::string(200, 'x');
  const auto refusal = [&]() -> std::string {
    try {
      const Prompts prompts(*model, plan_, options_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      return e.what();
    }
    return "";
  };
  const auto expect = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(refusal(), "a, problem a-4: the prompt has 204 tokens");
  expect(refusal(), "below the 128 that the model was trained on; give --ctx");
  options_.cache.context = 204;
  expect(refusal(), "below --ctx 204");
  options_.cache.context = 205;
  EXPECT_EQ(refusal(), "") << "asked for";
  options_.cache.context = 0;
  plan_.sources[0].task.problems[4].problem = std::string(123, 'x');
  EXPECT_EQ(refusal(), "") << "127 tokens leave room for one";
}

TEST_F(CellRuns, MegabytesBuyBudgetAndTypes) {
  const test::TinyModel file{{.layers = 12}};  // with few layers scratch decides
  const auto model = Model::load(file.path());
  const Prompts prompts(*model, plan_, options_);
  const auto bytes_at_50 = [&](RowType type) {
    CacheOptions cache = options_.cache;
    cache.budget = 50;
    cache.auto_types = false;
    cache.key_type = cache.value_type = type;
    return static_cast<double>(
        plan_memory(model->shape(), Policy::parse("random"), cache, options_.engine).bytes());
  };
  const auto bought = [&](double bytes) {
    plan_.cells[1] = cell("random", 0);
    plan_.cells[1].bought = {.mib = bytes / 1048576};
    buy_budgets(plan_, options_, model->shape(), prompts.longest());
    return plan_.cells[1];
  };
  EXPECT_EQ(bought(bytes_at_50(RowType::kF16)).budget, 50);
  EXPECT_EQ(plan_.cells[1].bought->key_type, RowType::kF16) << "of a type that was given M alone is bought";
  options_.cache.auto_types = true;
  EXPECT_EQ(bought(20e6).bought->key_type, RowType::kF16) << "prompts and texts of 60 tokens fit";
  const Cell small = bought(bytes_at_50(RowType::kQ4_0));
  EXPECT_EQ(small.bought->key_type, RowType::kQ4_0);
  EXPECT_EQ(small.budget, 50);
  const CacheOptions cache = cell_cache(small, options_, prompts.longest());
  EXPECT_FALSE(cache.auto_types);
  EXPECT_EQ(cache.value_type, RowType::kQ4_0);
  EXPECT_EQ(cache.budget, 50);
  EXPECT_EQ(CellRun(model, small, options_, prompts).memory().value_type, RowType::kQ4_0);
  const CacheOptions full = cell_cache(plan_.cells[0], options_, prompts.longest());
  EXPECT_FALSE(full.auto_types);
  EXPECT_EQ(full.key_type, RowType::kF16) << "what the others are compared with";
  EXPECT_THROW(bought(1e4), Error);
}

TEST_F(CellRuns, SizesThatBuyTheSameAreRefused) {
  plan_.cells = {cell("vase-attnv", 0), cell("vase-attnv", 0)};
  plan_.cells[0].bought = {.mib = 2};
  plan_.cells[1].bought = {.mib = 2.00001};
  EXPECT_THROW(buy_budgets(plan_, options_, model_->shape(), 20), Error);
  plan_.cells[1].bought = {.mib = 3};
  buy_budgets(plan_, options_, model_->shape(), 20);
  EXPECT_GT(plan_.cells[1].budget, plan_.cells[0].budget);
}

TEST_F(CellRuns, KnowsWhetherAPromptOpensThinking) {
  const auto opens = [&](const Model& model, const std::string& problem) {
    plan_.sources[0].task.problems[0].problem = problem;
    return Prompts(model, plan_, options_).open_thinking(plan_.sources[0].task.problems[0]);
  };
  const test::TinyModel reasoning{{.opens_thinking = true}};
  EXPECT_TRUE(opens(*Model::load(reasoning.path()), "how many?"));
  EXPECT_FALSE(opens(*model_, "how many?"));
  EXPECT_FALSE(opens(*model_, "what is <think>")) << "the user's own words";
  options_.raw = true;
  plan_.sources[0].task.instruction = "";
  EXPECT_TRUE(opens(*model_, "how many?\n<think>\n"));
  EXPECT_FALSE(opens(*model_, "how many?\n<think>\n\n</think>\n\n"));
}

TEST_F(CellRuns, OrderBatchAndThreadsDoNotMatter) {
  const Cell& one = plan_.cells[1];
  std::vector<Planned> items = items_of(plan_, one);
  const Texts together = generate(items, one);
  EXPECT_EQ(together.size(), 12u);
  std::ranges::reverse(items);
  options_.engine = {.sequences = 1, .threads = 2, .chunk = 5};
  EXPECT_EQ(generate(items, one), together);
  items.resize(2);
  options_.engine.sequences = 2;
  for (const auto& [item, tokens] : generate(items, one)) EXPECT_EQ(tokens, together.at(item)) << item;
}

TEST_F(CellRuns, SamplesDifferAndSoDoPolicies) {
  const Texts evicting = generate(items_of(plan_, plan_.cells[1]), plan_.cells[1]);
  EXPECT_NE(evicting.at("a-1 of a, vase-attnv at 40, run 0, sample 0"),
            evicting.at("a-1 of a, vase-attnv at 40, run 0, sample 1"));
  const Texts full = generate(items_of(plan_, plan_.cells[0]), plan_.cells[0]);
  EXPECT_NE(evicting.at("a-1 of a, vase-attnv at 40, run 0, sample 0"),
            full.at("a-1 of a, full, run 0, sample 0"));
}

// The two seeds of a line are all that is needed to have its text again.
TEST_F(CellRuns, TheSeedsOfTheRecordGiveTheTextAgain) {
  const std::vector<Planned> items = items_of(plan_, plan_.cells[1]);
  const Texts texts = generate(items, plan_.cells[1]);
  const Result& one = results_[4];
  CacheOptions cache = options_.cache;
  cache.budget = 40;
  Engine engine(model_, Policy::parse("vase-attnv"), cache, {.threads = 1});
  SessionOptions session = options_.session;
  session.sampling.seed = one.item.seed;
  session.evict_seed = one.item.evict_seed;
  const auto again = engine.submit(generations_[4].prompt_ids, session);
  while (engine.step({}) > 0) {
  }
  EXPECT_EQ(std::vector<int32_t>(again->generated().begin(), again->generated().end()),
            texts.at(one.item.text()));
}

TEST_F(CellRuns, CountsTokensAndBytes) {
  options_.session.ignore_eos = true;
  generate(items_of(plan_, plan_.cells[1]), plan_.cells[1]);
  const Result& evicting = results_[0];
  EXPECT_EQ(evicting.generated_tokens, 60);
  EXPECT_EQ(evicting.finish, "length");
  EXPECT_GT(evicting.evicted, 0);
  const Prompts prompts(*model_, plan_, options_);
  const MemoryPlan plan = CellRun(model_, plan_.cells[1], options_, prompts).memory();
  EXPECT_EQ(evicting.kv_bytes, plan.bytes_per_slot() * 48);  // M + R slots, no queries are stored
  generate(items_of(plan_, plan_.cells[0]), plan_.cells[0]);
  const Result& full = results_[0];
  const MemoryPlan full_plan = CellRun(model_, plan_.cells[0], options_, prompts).memory();
  EXPECT_EQ(full_plan.capacity, prompts.longest() + 60);
  EXPECT_EQ(full.kv_bytes,
            full_plan.bytes_per_slot() *
                static_cast<uint64_t>(full.prompt_tokens + 59));  // the last token is not stored
  EXPECT_EQ(full.evicted, 0);
}

TEST_F(CellRuns, TheContextEndsTexts) {
  options_.session.ignore_eos = true;
  options_.session.max_tokens = 1000;
  const Prompts prompts(*model_, plan_, options_);
  options_.cache.context = prompts.longest() + 20;
  for (const Cell& one : plan_.cells) {
    generate(items_of(plan_, one), one);
    for (const Result& r : results_) EXPECT_EQ(r.finish, "context");
  }
}

TEST_F(CellRuns, StopsInBetween) {
  const Prompts prompts(*model_, plan_, options_);
  const std::vector<Planned> items = items_of(plan_, plan_.cells[0]);
  size_t finished = 0;
  CellRun run(model_, plan_.cells[0], options_, prompts);
  EXPECT_FALSE(
      run.run(items, {.on_finished = [&](const Planned&, const Result&, const Generation&) { ++finished; },
                      .on_refused = {},
                      .on_tick = [](int, int64_t) {},
                      .stop = [&] { return finished >= 4; }}));
  EXPECT_GE(finished, 4u);
  EXPECT_LT(finished, 12u);
}

TEST_F(CellRuns, APromptThatCannotBeReadIsNamed) {
  plan_.sources[0].task.problems[2].problem = "\xff";
  try {
    const Prompts prompts(*model_, plan_, options_);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a, problem a-2: "), std::string::npos) << e.what();
  }
  plan_.sources[0].task.problems[2].problem = "fine";
  options_.cache.context = 5;
  EXPECT_THROW(Prompts(*model_, plan_, options_), Error);
}

TEST_F(CellRuns, AnItemWithoutNumbersIsRefusedAndTheOthersGoOn) {
  const test::TinyModel broken({.nan_token = '#'});
  model_ = Model::load(broken.path());
  plan_.sources[0].task.problems[2].problem = "problem #";
  const Cell& one = plan_.cells[1];
  std::vector<Planned> items = items_of(plan_, one);
  const Texts texts = generate(items, one);
  EXPECT_GT(texts.size(), 2u);
  EXPECT_EQ(texts.size() + refused_.size(), 12u) << "some come upon a # of their own";
  for (const std::string sample : {"0", "1"})
    EXPECT_NE(refused_["a-2 of a, vase-attnv at 40, run 0, sample " + sample].find("NaN"), std::string::npos);
  std::erase_if(items, [](const Planned& planned) { return planned.problem->id == "a-2"; });
  EXPECT_EQ(generate(items, one), texts);
}

}  // namespace
}  // namespace vase::eval
