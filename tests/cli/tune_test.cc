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
  const Outcome kl = vase("eval kl --json --threads 1 --model " + small_.path() + " --text " + text_ +
                          " --kv-buffer 8 --tokens 300 --kv-budget " + std::to_string(budget) +
                          " --kv-budget " + std::to_string(budget - 16));
  const json rows = json::parse(kl.out)["rows"];
  EXPECT_LE(rows[0]["kl_mean"].get<double>(), target);
  EXPECT_GT(rows[1]["kl_mean"].get<double>(), target);
  for (const json& row : found["measured"]) {
    if (row["budget"] == budget) EXPECT_EQ(row["kl_mean"], rows[0]["kl_mean"]);
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
