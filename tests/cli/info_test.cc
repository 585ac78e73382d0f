// `vase info`: shape and costs.
#include <nlohmann/json.hpp>
#include <string>

#include "cli_fixture.h"

namespace vase {
namespace {

TEST_F(Cli, InfoShowsShapeAndCosts) {
  const Outcome text = vase("info " + model_.path()), json = vase("info --json " + model_.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("KV per token"), std::string::npos);
  ASSERT_EQ(json.code, 0) << json.err;
  const nlohmann::json j = nlohmann::json::parse(json.out);
  EXPECT_EQ(j["trained_context"], 4096);
  EXPECT_EQ(j["budgets"].back()["budget"], "full");
  EXPECT_EQ(j["budgets"].back()["memory"]["capacity"], 4096);
  EXPECT_EQ(j["budgets"].size(), 8u);
}

TEST_F(Cli, InfoFollowsItsFlags) {
  const auto budgets = [&](const std::string& flags) {
    const Outcome o = vase("info --json " + flags + " " + model_.path());
    EXPECT_EQ(o.code, 0) << o.err;
    if (o.code != 0) return std::string();
    const nlohmann::json rows = nlohmann::json::parse(o.out)["budgets"];
    std::string list;
    for (const auto& row : rows) {
      list += row["budget"].get<std::string>() + (row["requested"].get<bool>() ? "! " : " ");
    }
    return list + rows.back()["memory"]["capacity"].dump();
  };
  EXPECT_EQ(budgets("--kv-budget 300"), "128 256 300! 512 1024 2048 4096 8192 full 4096");
  EXPECT_EQ(budgets("--kv-budget 512 --ctx 777"), "128 256 512! 1024 2048 4096 8192 full 777");
  EXPECT_EQ(budgets("--kv-buffer 500"), "512 1024 2048 4096 8192 full 4096");
  EXPECT_EQ(budgets("--policy full"), "full 4096");
  EXPECT_NE(budgets("--kv-budget-mb 10").find("! "), std::string::npos);
  expect_usage_error(vase("info --policy nonsense " + model_.path()), {"nonsense", "There are"});
  expect_usage_error(vase("info --kv-budget 10 " + model_.path()), {"smallest", "69"});
  expect_usage_error(vase("info --prefill dense " + model_.path()), {"--prefill"});
}

}  // namespace
}  // namespace vase
