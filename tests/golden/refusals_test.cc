// Configurations that the reference refuses, or takes though it should not: each works here, or is refused with an
// error that says why, before anything runs.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "engine/attention_driver.h"
#include "golden/golden_case.h"
#include "vase/error.h"

namespace vase::golden {
namespace {

using Evictions = std::vector<std::vector<int>>;  // [step from 0 behind the prompt, slots attended in it]

// What must happen. An empty refusal: it works.
struct Required {
  std::string_view what;     // as in the file
  std::string_view refused;  // words of the error
  Evictions evictions;       // with either trigger
  std::string_view parity_refused = {};  // words of the error with the authors' trigger, when only that is refused
};

const Evictions kAtBudgetAndBuffer = {{127, 192}};

const std::vector<Required> kRequired = {
    {"one query head per KV head", "", kAtBudgetAndBuffer},
    {"prompt of one token, mode with queries", "", {{190, 192}}},
    {"prompt of one token, mode without queries", "", {{190, 192}}},
    {"value set with sinks and deterministic attention: no such mode", "'range_sink_attn'", {}},
    {"listed in the repository walkthrough, no longer in the code", "unknown", {}},
    {"any name with \"cur\" in it that is not cur_fixed_gauss resamples", "'cur'", {}},
    {"N_v = -1 (command line default)", "'-1'", {}},
    {"N_v = K", "", kAtBudgetAndBuffer},
    {"N_v > K", "the smallest budget that works here is 129", {}},
    {"N_v > C", "the smallest budget that works here is 193", {}},
    {"N_v = 0", "", kAtBudgetAndBuffer},
    {"N_v smaller than the number of sinks", "", kAtBudgetAndBuffer},
    {"budget not a multiple of the buffer, source and target of the buffer move overlap", "", {{99, 164}},
     "not a multiple of the buffer"},
    {"budget not a multiple of the buffer, first move disjoint (long prompt), second overlaps", "",
     {{33, 164}, {97, 164}}, "not a multiple of the buffer"},
    {"budget equal to the buffer: nothing but the buffer is kept", "leaves nothing to keep", {}},
    {"budget smaller than the buffer", "leaves nothing to keep", {}},
    {"two tokens per step: never evicts, storage overflows", "", {{63, 192}}},
    {"all attention mass inside the value set: all weights zero", "", kAtBudgetAndBuffer},
    {"NaN in the queries, sampling", "", kAtBudgetAndBuffer},
    {"NaN in the queries, top-k", "", kAtBudgetAndBuffer},
};

const Required* required_for(std::string_view what) {
  const auto found = std::ranges::find(kRequired, what, &Required::what);
  return found == kRequired.end() ? nullptr : &*found;
}

// The policy of a mode with `count` value slots; a mode that stands for none is its own text.
std::string policy_for(const std::string& mode, const std::string& count) {
  if (mode == "attn") return "snapkv";
  if (mode == "attn_rkv") return "r-kv";
  if (mode == "range_sink_sample_attn") return "vase-attnv protect=sinks:4,value:" + count;
  if (mode == "range_attn") return "value-slots protect=value:" + count;
  if (mode == "attn_random") return "attn-random protect=random:" + count;
  if (mode == "cur_resample_gauss") return "vase-dkv";
  if (mode == "evict_large_range") return "evict-large";
  return mode;
}

// One KV head of 8 channels, as the reference was tried on, with what a row of the file asks for.
class Attempt {
 public:
  explicit Attempt(const nlohmann::json& row)
      : what_(row.at("what")), params_(row.at("params")), budget_(params_.at("M")), buffer_(params_.at("R")),
        prompt_(params_.at("P")), chunk_(params_.value("chunk", 1)) {
    // -1 is "not given"; only some rows are about that.
    const int count = params_.at("n_large");
    const bool given = count >= 0 || what_.starts_with("N_v");
    policy_ = policy_for(params_.at("mode"), given ? std::to_string(count) : "25%");
  }

  void run(const Required& required) {
    run(required, Trigger::kGeneral, required.refused);
    const bool only_parity = !required.parity_refused.empty();
    run(required, Trigger::kParity, only_parity ? required.parity_refused : required.refused);
  }

  // With another policy; returns what the KV head holds after `evictions` evictions, in logical order.
  std::vector<int32_t> run(const std::string& policy, Trigger trigger, const Evictions& evictions) const {
    test::Driver driver(model(), policy, cache(trigger), {.threads = 1});
    Sequence sequence = driver.start(0, 0, prompt_);
    driver.step({&sequence}, {prompt_});
    Evictions seen;
    for (int step = 0; seen.size() < evictions.size() && step < 256; ++step) {
      const int before = sequence.used;
      const int64_t done = sequence.evictions;
      driver.step({&sequence}, {chunk_});
      if (sequence.evictions == done) continue;
      seen.push_back({step, before + chunk_});
      check_kept(driver.kept(0, 0, 0), sequence.seen);
    }
    EXPECT_EQ(seen, evictions);
    EXPECT_EQ(driver.attention().nonfinite_scores() > 0, what_.starts_with("NaN"));
    EXPECT_NO_THROW(driver.attention().rethrow_error());
    return driver.kept(0, 0, 0);
  }
  const std::string& policy() const { return policy_; }

 private:
  void run(const Required& required, Trigger trigger, std::string_view refused) {
    SCOPED_TRACE(trigger == Trigger::kParity ? "the authors' trigger" : "general trigger");
    try {
      run(policy_, trigger, required.evictions);
      EXPECT_EQ(refused, "") << "it was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      ASSERT_FALSE(refused.empty()) << e.what();
      EXPECT_NE(std::string_view(e.what()).find(refused), std::string::npos) << e.what();
    }
  }

  // M distinct tokens, the newest R among them.
  void check_kept(const std::vector<int32_t>& kept, int64_t seen) const {
    const std::set<int32_t> tokens(kept.begin(), kept.end());
    ASSERT_EQ(static_cast<int>(kept.size()), budget_);
    ASSERT_EQ(tokens.size(), kept.size());
    for (int i = 1; i <= buffer_; ++i) ASSERT_TRUE(tokens.contains(static_cast<int32_t>(seen - i))) << i;
  }

  CacheOptions cache(Trigger trigger) const {
    CacheOptions options{.budget = budget_, .buffer = buffer_, .trigger = trigger};
    if (trigger == Trigger::kGeneral) return options;
    options.prefill = Prefill::kDense;
    options.max_prompt = prompt_;
    return options;
  }

  test::FakeModel model() const {
    const int group = params_.at("G");
    const test::FakeModel made_up{.shape = {.layers = 1, .query_heads = group, .kv_heads = 1, .head_dim = 8}};
    const bool sharp = what_.starts_with("all attention mass"), broken = what_.starts_with("NaN");
    test::FakeModel model = made_up;
    model.own_rows = [=](int64_t position, int what) {
      std::vector<float> row = made_up.row(0, position, 0, what, what == 0 ? 8 * group : 8);
      if (broken && what == 0) std::ranges::fill(row, std::numeric_limits<float>::quiet_NaN());
      if (sharp) sharpen(row, position, what);
      return row;
    };
    return model;
  }

  // All attention goes to token 50; smoothing gives some of it to its neighbours, so their values are large as well.
  static void sharpen(std::vector<float>& row, int64_t position, int what) {
    if (what == 0) std::ranges::fill(row, 100.0f);
    if (what == 1 && position == 50) std::ranges::fill(row, 100.0f);
    if (what == 2 && std::abs(position - 50) <= 2) row[0] = 1000;
  }

  std::string what_;
  nlohmann::json params_;
  int budget_, buffer_, prompt_, chunk_;
  std::string policy_;
};

TEST(GoldenRefusals, EveryAttempt) {
  VASE_SKIP_WITHOUT_GOLDEN();
  const nlohmann::json refusals = read_json("defects/refusals");
  std::set<std::string_view> handled;
  for (const auto& row : refusals.at("attempts")) {
    SCOPED_TRACE(row.dump());
    const Required* required = required_for(row.at("what").get<std::string>());
    if (!required) {
      ADD_FAILURE() << "no test handles this attempt";
      continue;
    }
    handled.insert(required->what);
    Attempt(row).run(*required);
    if (row.at("outcome") == "runs" && required->refused.empty()) {
      EXPECT_EQ(row.at("evictions").get<Evictions>(), required->evictions);  // where the reference runs, it is right
    }
  }
  EXPECT_EQ(refusals.at("attempts").size(), 35u);
  EXPECT_EQ(handled.size(), kRequired.size());
}

const nlohmann::json kPlain = {
    {"what", "N_v = K"},
    {"params", {{"M", 128}, {"R", 64}, {"P", 64}, {"G", 2}, {"n_large", 64}, {"mode", "range_sink_sample_attn"}}}};

// With no place beside the value set, magnitude alone decides. A share of M that is too much is cut, as is what a plan
// without an engine asks for.
TEST(Refusals, ValueSetOfTheWholeBudgetIsTopByMagnitude) {
  const Attempt attempt(kPlain);
  for (const Trigger trigger : {Trigger::kGeneral, Trigger::kParity}) {
    const auto sinks_first = attempt.run("protect=sinks:4 score=value", trigger, kAtBudgetAndBuffer);
    EXPECT_EQ(attempt.run(attempt.policy(), trigger, kAtBudgetAndBuffer), sinks_first);
    EXPECT_EQ(attempt.run("vase-attnv protect=sinks:4,value:100%", trigger, kAtBudgetAndBuffer), sinks_first);
    EXPECT_EQ(attempt.run("value-slots protect=value:64", trigger, kAtBudgetAndBuffer),
              attempt.run("score=value", trigger, kAtBudgetAndBuffer));
  }
}

// The mode that the reference does not have is a composition here.
TEST(Refusals, ValueSetWithSinksAndTopAttention) {
  const auto kept =
      Attempt(kPlain).run("protect=sinks:4,value:32 score=attention", Trigger::kGeneral, kAtBudgetAndBuffer);
  EXPECT_EQ(std::vector(kept.begin(), kept.begin() + 4), (std::vector<int32_t>{0, 1, 2, 3}));
}

// With all weights zero the value set stays and the seed decides about the rest.
TEST(Refusals, AllWeightsZeroDrawsUniformly) {
  nlohmann::json row = kPlain;
  row["what"] = "all attention mass inside the value set: all weights zero";
  const Attempt attempt(row);
  const std::string rules = "protect=sinks:4,value:32 score=";
  const auto drawn = attempt.run(rules + "attention select=sample", Trigger::kGeneral, kAtBudgetAndBuffer);
  for (int32_t token : {0, 1, 2, 3, 48, 49, 50, 51, 52}) EXPECT_TRUE(std::ranges::count(drawn, token)) << token;
  // The draws of the fillers are those of a uniform weight.
  EXPECT_EQ(drawn, attempt.run(rules + "uniform:block=1048576 select=sample", Trigger::kGeneral, kAtBudgetAndBuffer));
}

}  // namespace
}  // namespace vase::golden
