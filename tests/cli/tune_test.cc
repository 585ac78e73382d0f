// `vase tune` as a user meets it.
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.h"

namespace vase {
namespace {

using nlohmann::json;

class CliTune : public Cli {
 protected:
  CliTune() {
    std::ofstream out(text_);
    for (int i = 0; i < 40; ++i) out << "line " << i * i << ", ";
  }
  ~CliTune() override { std::remove(text_.c_str()); }

  Outcome tune(const std::string& flags) const {
    return vase("tune --threads 1 --model " + small_.path() + " --text " + text_ +
                " --kv-buffer 8 --tokens 300 " + flags);
  }

  // Nats over all counted positions of one text.
  static double sum_of(const json& row) {
    return row["kl_mean"].get<double>() * row["positions"].get<double>();
  }

  const std::string text_ = test::temporary_path(".txt");
  test::TinyModel small_{{.context = 1024}};
};

TEST_F(CliTune, FindsABudgetThatEvalKlConfirms) {
  // Half of what the smallest budget costs can be had with a larger one.
  const json lowest = json::parse(tune("--json --target-kl 100").out);
  const json& smallest = lowest["policies"][0];
  EXPECT_EQ(smallest["budget"], smallest["smallest"]);
  ASSERT_EQ(smallest["measured"].size(), 1u);
  const double target = smallest["measured"][0]["kl_mean"].get<double>() / 2;
  const Outcome o = tune("--json --target-kl " + std::to_string(target));
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const json found = json::parse(o.out)["policies"][0];
  const int budget = found["budget"];
  EXPECT_GT(budget, smallest["budget"].get<int>());
  EXPECT_EQ(budget % 16, 0);
  const auto measured_at = [&](int at) {
    for (const json& row : found["measured"]) {
      if (row["budget"] == at) return row;
    }
    return json();
  };
  const json best = measured_at(budget), below = measured_at(budget - 16);
  ASSERT_FALSE(best.is_null() || below.is_null()) << o.out;
  EXPECT_LE(best["kl_mean"].get<double>(), target);
  EXPECT_GT(below["kl_mean"].get<double>(), target);
  const Outcome kl = vase("eval kl --json --threads 1 --model " + small_.path() + " --text " + text_ +
                          " --kv-buffer 8 --tokens 300 --kv-budget " + std::to_string(budget) +
                          " --kv-budget " + std::to_string(budget - 16));
  const json rows = json::parse(kl.out)["rows"];
  EXPECT_GT(best["positions"], rows[0]["positions"]) << "from the smallest budget's first eviction on";
  EXPECT_NEAR(sum_of(best), sum_of(rows[0]), 1e-3 + 1e-3 * sum_of(best)) << "which adds positions of the full cache";
  EXPECT_NEAR(sum_of(below), sum_of(rows[1]), 1e-3 + 1e-3 * sum_of(below));
}

// A budget of its own positions would leave out the short text from 64 on, and nearly all of the long one at the largest.
TEST_F(CliTune, AllBudgetsCountThePositionsOfTheSmallest) {
  const std::string brief = test::temporary_path(".txt");
  std::ofstream(brief) << "a text of some sixty characters, in which 64 tokens drop none";
  const Outcome o = tune("--json --target-kl 1e-6 --policy random --seeds 2 --text " + brief);
  EXPECT_EQ(o.code, 1) << o.err;
  const Outcome kl = vase("eval kl --json --threads 1 --policy random --seeds 2 --model " + small_.path() +
                          " --text " + text_ + " --text " + brief +
                          " --kv-buffer 8 --tokens 300 --kv-budget 16 --kv-budget 64 --kv-budget 288");
  std::remove(brief.c_str());
  const json measured = json::parse(o.out)["policies"][0]["measured"], own = json::parse(kl.out)["rows"];
  ASSERT_EQ(own.size(), 3u) << kl.err;
  EXPECT_EQ(own[0]["texts"], 2);
  EXPECT_EQ(own[1]["texts"], 1);
  EXPECT_LT(own[2]["positions"], own[1]["positions"]);
  ASSERT_GE(measured.size(), 4u);
  EXPECT_EQ(measured.front()["budget"], 16);
  EXPECT_EQ(measured.front()["kl_mean"], own[0]["kl_mean"]);
  EXPECT_EQ(measured.back()["budget"], 288);
  for (const json& row : measured) {
    EXPECT_EQ(row["texts"], 2) << row["budget"];
    EXPECT_EQ(row["positions"], own[0]["positions"]) << row["budget"];
  }
}

TEST_F(CliTune, PrintsAdviceAndWhatItMeasured) {
  const Outcome o = tune("--target-kl 100 --policy random --policy vase-dkv");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("random: --kv-budget 16, mean KL "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("vase-dkv: --kv-budget "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("| full, f32 rows | - |"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("| random | 16 |"), std::string::npos) << o.out;
}

TEST_F(CliTune, NoBudgetThatIsEnoughIsSaidWithExitCodeOne) {
  const Outcome o = tune("--target-kl 1e-6 --policy random");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("random: no budget up to 288 comes to 1e-06"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("| random | 288 |"), std::string::npos) << o.out;
}

TEST_F(CliTune, RefusesWhatItCannotTune) {
  expect_usage_error(tune("--policy full"), {"full", "leave it out"});
  expect_usage_error(tune("--policy vase --policy vase"), {"--policy 'vase' is given twice"});
  expect_usage_error(tune("--target-kl 0"), {"--target-kl", "allowed"});
  expect_usage_error(tune("--target-kl x"), {"--target-kl", "allowed"});
  expect_usage_error(tune("--step 0"), {"--step", "allowed"});
  expect_usage_error(tune("--text " + text_), {"--text", "the same file"});
  expect_usage_error(vase("tune --model " + small_.path() + " --text " + text_ + " --tokens 60"),
                     {"60 tokens", "give longer texts"});
  expect_usage_error(vase("tune --model " + small_.path()), {"--text"});
}

}  // namespace
}  // namespace vase
