// Teacher-forced divergence from the full cache, on tiny models.
#include "eval/kl.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/kl_report.h"
#include "eval/run/cache_json.h"
#include "eval/unlike_texts.h"
#include "support/kl.h"
#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

class Kl : public testing::Test {
 protected:
  test::TinyModel file_{{.family = "qwen3"}};
  std::shared_ptr<const Model> model_ = Model::load(file_.path());
  Text text_{"tiny", test::tiny_text(150), 10};
  KlOptions options_{.threads = 1, .chunk = 16};

  KlCell cell(const std::string& policy, int budget, uint64_t seed = 0) const {
    return {Policy::parse(policy), policy, {.budget = budget, .buffer = 8}, seed};
  }
};

TEST_F(Kl, TheFullCacheDoesNotDifferFromItselfWhateverTheChunk) {
  const FullCache full(model_, text_, options_);
  const KlText same = full.compare_with_itself(7, RowType::kF16, options_);
  ASSERT_EQ(same.kl.size(), 150u);
  for (float kl : same.kl) EXPECT_LE(kl, 1e-6);  // of log-probabilities kept as f32
  EXPECT_EQ(same.same_top, 150);
  EXPECT_EQ(same.predicted, 149);
  EXPECT_NEAR(same.nll, same.full_nll, 1e-6 * same.nll);
}

TEST_F(Kl, OnlyPositionsAfterTheFirstEvictionCount) {
  const FullCache full(model_, text_, options_);
  const KlText row = full.compare(cell("random", 40), options_);
  EXPECT_EQ(row.first_eviction, 48);  // M + R tokens seen
  EXPECT_EQ(row.kl.size(), 150u - 48);
  EXPECT_EQ(row.predicted, 150 - 48 - 1);
  EXPECT_GT(row.kl[20], 0);
  EXPECT_EQ(full.compare(cell("random", 141), options_).kl.size(), 1u);  // evicts with the last token but one
  EXPECT_TRUE(full.compare(cell("random", 142), options_).kl.empty());   // with the last
}

TEST_F(Kl, PositionsCanBeCountedFromAGivenOne) {
  const FullCache full(model_, text_, options_);
  KlCell early = cell("random", 40), late = early;
  early.count_from = 30;
  const KlText row = full.compare(early, options_);
  ASSERT_EQ(row.kl.size(), 150u - 30);
  EXPECT_EQ(row.predicted, 150 - 30 - 1);
  for (int i = 0; i < 18; ++i) EXPECT_LE(row.kl[i], 1e-6) << "before the eviction nothing differs";
  const KlText usual = full.compare(cell("random", 40), options_);
  EXPECT_EQ(std::vector<float>(row.kl.begin() + 18, row.kl.end()), usual.kl);
  late.count_from = 1000;
  EXPECT_TRUE(full.compare(late, options_).kl.empty());
}

TEST_F(Kl, NoiseFloorsCanBeCountedAtTheSamePositions) {
  const FullCache full(model_, text_, options_);
  std::vector<KlRow> all = noise_floor_rows(options_), late = all;
  add_noise_floors(all, full, options_);
  add_noise_floors(late, full, options_, 30);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<float>&every = all[i].texts.at(0).kl, &some = late[i].texts.at(0).kl;
    EXPECT_EQ(every.size(), 150u);
    EXPECT_EQ(some, std::vector<float>(every.begin() + 30, every.end())) << late[i].name;
    EXPECT_EQ(late[i].texts.at(0).first_counted(), 30);
  }
}

// Rows that are quantised differ before anything is evicted: after the newest R + E.
TEST_F(Kl, QuantisedRowsCountWithoutAnEviction) {
  const FullCache full(model_, text_, options_);
  KlCell quantised = cell("random", 200);
  quantised.cache.key_type = quantised.cache.value_type = RowType::kQ4_0;
  const KlText row = full.compare(quantised, options_);
  EXPECT_EQ(row.first_eviction, 0);
  ASSERT_EQ(row.kl.size(), 150u - 16);
  EXPECT_GT(row.kl[0], 0);
  quantised.count_from = 0;
  const KlText all = full.compare(quantised, options_);
  for (int i = 0; i < 16; ++i) EXPECT_LT(all.kl[i], 0.1f * row.kl[0] + 1e-4f) << i << ": rows of f16";
}

TEST_F(Kl, MegabytesBuyOneCacheForAllTexts) {
  std::vector<Text> texts = {text_, text_};
  texts[1].tokens = test::tiny_text(600);
  const Policy policy = Policy::parse("random");
  const CacheOptions open{.buffer = 8, .auto_types = true};
  const BoughtCache enough = buy_cache(model_->shape(), policy, open, 50, texts, options_);
  EXPECT_EQ(enough.plan.key_type, RowType::kF16);
  EXPECT_EQ(enough.cache.budget, enough.plan.budget);
  EXPECT_EQ(enough.cache.budget_mib, 0);
  EXPECT_GT(enough.plan.budget, 600);
  const MemoryPlan half = plan_memory(model_->shape(), policy, {.budget = 300, .buffer = 8}, {.threads = 1});
  const double mib = static_cast<double>(half.bytes()) / 1048576;
  const BoughtCache less = buy_cache(model_->shape(), policy, open, mib, texts, options_);
  EXPECT_NE(less.plan.key_type, RowType::kF16) << "the longest text has more tokens";
  EXPECT_LE(less.plan.bytes(), half.bytes());
  EXPECT_EQ(buy_cache(model_->shape(), policy, open, mib, {text_}, options_).plan.budget, 300);
}

TEST_F(Kl, ADensePromptCountsFromItsOwnFirstEviction) {
  const FullCache full(model_, text_, options_);
  KlCell dense = cell("random", 40);
  text_.prompt_tokens = 100;
  const FullCache longer(model_, text_, options_);
  dense.cache.prefill = Prefill::kDense;
  EXPECT_EQ(longer.compare(dense, options_).first_eviction, 101);
}

TEST_F(Kl, EqualsTheDirectEvaluationRowByRow) {
  const FullCache full(model_, text_, options_);
  const KlCell c = cell("vase-dkv", 40, 3);
  std::vector<std::vector<float>> want, got;
  SessionOptions session;
  session.evict_seed = 3;
  const auto keep = [](auto& rows) {
    return [&rows](int64_t, std::span<const float> logits) { rows.emplace_back(logits.begin(), logits.end()); };
  };
  Engine(model_, Policy(), {.context = 150}, {.threads = 1})
      .force(text_.tokens, 10, session, keep(want));
  Engine(model_, c.policy, c.cache, {.threads = 1}).force(text_.tokens, 10, session, keep(got));
  const KlText row = full.compare(c, options_);
  double nll = 0;
  for (size_t i = 48; i < 150; ++i) {
    const double kl = test::kl_divergence(want[i], got[i], want[i].size()).mean;
    EXPECT_NEAR(row.kl[i - 48], kl, 1e-6 + 1e-5 * kl) << i;
    if (i + 1 < 150) nll -= test::log_softmax(got[i])[text_.tokens[i + 1]];
  }
  EXPECT_NEAR(row.nll, nll, 1e-6 * nll);
}

TEST_F(Kl, AnyChunkGivesTheSameNumbers) {
  const FullCache full(model_, text_, options_);
  KlOptions by_token = options_;
  by_token.chunk = 1;
  const KlCell c = cell("vase-attnv", 40, 5);
  EXPECT_EQ(full.compare(c, options_).kl, full.compare(c, by_token).kl);
}

TEST_F(Kl, ABudgetThatDoesNotWorkIsRefused) {
  const FullCache full(model_, text_, options_);
  EXPECT_THROW(full.compare(cell("vase-attnv", 8), options_), Error);
}

TEST(KlOfABrokenModel, NamesTheTextAndThePolicy) {
  const test::TinyModel file({.nan_token = '!'});
  const std::shared_ptr<const Model> model = Model::load(file.path());
  const auto error_of = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kNonFinite);
      return e.what();
    }
    return "";
  };
  const Text text{"broken", {'a', 'b', '!', 'c'}, 0};
  const std::string why = "the model gave NaN or infinite logits for the token at position 3";
  EXPECT_EQ(error_of([&] { FullCache(model, text, {.threads = 1}); }), "broken, full cache: " + why);
  const KlCell cell{Policy::parse("random"), "random", {.budget = 40, .buffer = 8}};
  Engine engine(model, cell.policy, cell.cache, {.threads = 1});
  EXPECT_EQ(
      error_of([&] { force_text(engine, text, {}, cell.text(), [](int64_t, std::span<const float>) {}); }),
      "broken, random at 40: " + why);
}

KlText measured(const std::string& name, std::vector<float> kl, int same_top, double nll, double full_nll) {
  return {.text = name, .kl = std::move(kl), .same_top = same_top, .nll = nll, .full_nll = full_nll, .predicted = 2};
}

TEST(KlSummary, MeansAreOverTextsWithSeedsPooled) {
  // Text a: two seeds, means of all its positions (1 + 3 + 5 + 7) / 4 = 4; text b: 2. Text c never evicted.
  const KlRow row{"p", 64, {measured("a", {1, 3}, 2, 2, 1), measured("a", {5, 7}, 0, 4, 1), measured("b", {2, 2}, 1, 1, 1),
                            measured("c", {}, 0, 0, 0)}};
  const KlSummary s = summarise(row);
  EXPECT_EQ(s.texts, 2);
  EXPECT_EQ(s.positions, 6);
  EXPECT_DOUBLE_EQ(s.kl, 3);
  EXPECT_DOUBLE_EQ(s.kl_error, 1);  // sd of {4, 2} = sqrt 2, over sqrt 2
  EXPECT_DOUBLE_EQ(s.median, 2.5);  // 1 2 2 3 5 7
  EXPECT_DOUBLE_EQ(s.max, 7);
  EXPECT_DOUBLE_EQ(s.same_top, 0.5);  // 2 of 4 and 1 of 2
  EXPECT_DOUBLE_EQ(s.same_top_error, 0);
  EXPECT_DOUBLE_EQ(s.perplexity, std::exp((6.0 / 4 + 1.0 / 2) / 2));
  EXPECT_DOUBLE_EQ(s.full_perplexity, std::exp(0.5));
}

// Worked out by hand; standard errors are statistics.stdev(means) / sqrt(n) of Python, p99
// numpy.percentile(x, 99).
TEST(KlSummary, OfTextsThatDifferInEverything) {
  const KlRow row = test::unlike_texts();
  const KlSummary s = summarise(row);
  EXPECT_EQ(s.texts, 3);
  EXPECT_EQ(s.positions, 7);
  EXPECT_NEAR(s.kl, 4.75 / 3, 1e-12);  // of 1, 0.75, 3
  EXPECT_NEAR(s.kl_error, 0.7120003121, 1e-9);
  EXPECT_DOUBLE_EQ(s.median, 1);  // 0.25 0.5 0.5 1 1.25 2 3
  EXPECT_DOUBLE_EQ(s.p99, 2.94);  // 0.94 of the way from 2 to 3
  EXPECT_DOUBLE_EQ(s.max, 3);
  EXPECT_NEAR(s.same_top, 1.25 / 3, 1e-12);  // of 3/4, 1/2, 0
  EXPECT_NEAR(s.same_top_error, 0.2204792759, 1e-9);
  EXPECT_NEAR(s.perplexity, 2.718281828,
              1e-9);  // exp of the mean of 1.5 and 0.5; the last text predicts nothing
  EXPECT_NEAR(s.perplexity_error, 1.359140914, 1e-9);  // times their standard error, 1/2
  EXPECT_NEAR(s.full_perplexity, 1.868245957, 1e-9);   // exp of the mean of 1 and 0.25
}

// The last token of a text predicts none: of one counted position alone there is no perplexity.
TEST(KlSummary, WithoutAPredictedTokenThereIsNoPerplexity) {
  KlRow row = test::unlike_texts();
  row.texts.erase(row.texts.begin());  // leaves b, which predicts one token, and c
  EXPECT_EQ(summary_cells(summarise(row), "").back(), "1.649 ± ? (1.284)") << "of b alone, exp 0.5 and exp 0.25";
  nlohmann::json json = summary_json(row);
  EXPECT_TRUE(json["kl_error"].is_number());
  EXPECT_TRUE(json["perplexity"].is_number());
  EXPECT_TRUE(json["perplexity_error"].is_null());
  row.texts.erase(row.texts.begin());
  const std::string table = kl_table({row}, {});
  EXPECT_NE(table.find("| p | 64 | 3.0000 ± ? | 3.0000 | 3.000 | 3.00 | 0.0 ± ? | - | 1 |\n"), std::string::npos)
      << table;
  json = summary_json(row);
  EXPECT_EQ(json["kl_mean"], 3);
  for (const char* key : {"perplexity", "perplexity_error", "perplexity_full"})
    EXPECT_TRUE(json[key].is_null()) << key;
}

// By hand, as above.
TEST(KlLine, HoldsTheNumbersOfOneText) {
  const KlRow row = test::unlike_texts();
  const nlohmann::json line = text_json(row, row.texts[0], 5);
  EXPECT_EQ(line["evict_seed"], 5);
  EXPECT_EQ(line["positions"], 4);
  const std::vector<std::pair<const char*, double>> expected = {
      {"kl_mean", 1},     {"kl_median", 0.875}, {"kl_p99", 1.9775}, {"kl_max", 2},
      {"same_top", 0.75}, {"nll", 1.5},         {"nll_full", 1}};
  for (const auto& [key, value] : expected) EXPECT_DOUBLE_EQ(line[key].get<double>(), value) << key;
}

// Whoever has a line can measure it again.
TEST(KlLine, HoldsWhatShapedIt) {
  const Policy policy = Policy::parse("random");
  const CacheOptions cache{
      .budget = 64, .buffer = 8, .period = 4, .key_type = RowType::kQ8_0, .value_type = RowType::kQ4_0};
  KlRow row = test::unlike_texts();
  row.settings = settings_json(policy, cache, {.chunk = 32});
  for (const nlohmann::json& json : {text_json(row, row.texts[0], 0), summary_json(row)}) {
    EXPECT_EQ(json["parts"], policy.text());
    EXPECT_EQ(json["chunk"], 32);
    EXPECT_EQ(json["cache"], cache_json(cache));
    EXPECT_EQ(json["cache"]["key_type"], "q8_0");
    EXPECT_EQ(json["cache"]["period"], 4);
  }
  const std::vector<KlRow> floors = noise_floor_rows({.chunk = 32});
  EXPECT_EQ(floors.at(0).settings["chunk"], 16);
  EXPECT_EQ(floors.at(0).settings["cache"]["key_type"], "f16");
  EXPECT_EQ(floors.at(1).settings["chunk"], 32);
  EXPECT_EQ(floors.at(1).settings["cache"]["value_type"], "f32");
}

KlRow two_texts(const std::string& name, float kl) {
  return {name, 64, {measured("a", {kl - 0.1f, kl - 0.1f}, 2, 1, 1), measured("b", {kl + 0.1f, kl + 0.1f}, 2, 1, 1)}};
}

TEST(KlTable, MarksWhatLiesBelowTheNoiseFloor) {
  const std::vector<KlRow> floors = {two_texts("full, other", 0.5f)};
  const std::string table =
      kl_table({two_texts("good", 0.25f), two_texts("bad", 0.75f), {"idle", 64, {measured("a", {}, 0, 0, 0)}}}, floors);
  EXPECT_NE(table.find("| good | 64 | 0.2500 ± 0.1000 (*) |"), std::string::npos) << table;
  EXPECT_NE(table.find("| bad | 64 | 0.7500 ± 0.1000 |"), std::string::npos) << table;
  EXPECT_NE(table.find("| idle | 64 | never evicted |"), std::string::npos) << table;
  EXPECT_NE(table.find("Noise floor: 0.5000"), std::string::npos) << table;
  EXPECT_EQ(table.find("± ?"), std::string::npos) << table;
}

// One text tells nothing of how texts differ; "± 0.0000" would say that they do not.
TEST(KlTable, OneTextHasNoStandardError) {
  const KlRow row{"p", 64, {measured("a", {0.5, 0.5}, 2, 1, 1)}};
  const std::string table = kl_table({row}, {});
  EXPECT_NE(table.find("| p | 64 | 0.5000 ± ? |"), std::string::npos) << table;
  EXPECT_NE(table.find("one text has no standard error"), std::string::npos) << table;
  const nlohmann::json j = summary_json(row);
  for (const char* key : {"kl_error", "same_top_error", "perplexity_error"}) EXPECT_TRUE(j[key].is_null()) << key;
}

}  // namespace
}  // namespace vase::eval
