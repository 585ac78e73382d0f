// Joining folders: every item once, sorted, of one configuration.
#include "eval/run/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "eval/run/results_file.h"
#include "eval/run/results_folder.h"
#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

json config(int temperature = 0) {
  return hashed({{"tasks", json::array({{{"name", "t"}}})},
                 {"cells", json::array({{{"policy", "full"}, {"budget", 0u}}})},
                 {"temperature", temperature}},
                3);
}

class Merge : public testing::Test {
 protected:
  TemporaryFolder parent_;
  const std::vector<std::string> folders_ = {parent_ / "a", parent_ / "b"};

  void fill(size_t folder, const std::vector<Result>& results, const json& own = config()) const {
    ResultsFolder out(folders_[folder], own);
    for (const Result& r : results) out.append(r, {.text = "text of " + r.item.problem_id});
  }
  std::vector<std::string> ids(Merged& merged) const {
    std::vector<std::string> list;
    merged = merge_results(folders_, [&](std::string_view line) {
      EXPECT_EQ(line.back(), '\n');
      list.push_back(json::parse(line)["id"]);
    });
    return list;
  }
  std::string refusal() const {
    try {
      merge_results(folders_, [](std::string_view) {});
    } catch (const Error& e) {
      return e.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }
};

TEST_F(Merge, SortsTheItemsOfAll) {
  fill(0, {result("full", 0, "p3", true), result("full", 0, "p1", true)});
  fill(1, {result("full", 0, "p2", false)});
  Merged merged;
  EXPECT_EQ(ids(merged), (std::vector<std::string>{"p1", "p2", "p3"}));
  EXPECT_EQ(merged.results, 3);
  EXPECT_EQ(merged.repeated, 0);
  EXPECT_EQ(merged.config, config());
}

// One of two shards did not make the whole.
TEST_F(Merge, CommandsOfAllAreKept) {
  json first = config(), second = config();
  first["command"] = {"--shard", "1/2"};
  second["command"] = {"--shard", "2/2"};
  fill(0, {result("full", 0, "p1", true)}, first);
  fill(1, {result("full", 0, "p2", true)}, second);
  Merged merged;
  ids(merged);
  EXPECT_FALSE(merged.config.contains("command"));
  EXPECT_EQ(merged.config["commands"], json::array({first["command"], second["command"]}));
  EXPECT_EQ(merged.config["hash"], config()["hash"]);
}

TEST_F(Merge, WhatIsThereTwiceAndEqualButForTheTimeCountsOnce) {
  Result later = result("full", 0, "p1", true);
  later.timing = {.process = "y", .start = 999, .seconds = 5, .tokens_per_s = 3};
  fill(0, {result("full", 0, "p1", true)});
  fill(1, {later, result("full", 0, "p2", false)});
  Merged merged;
  EXPECT_EQ(ids(merged), (std::vector<std::string>{"p1", "p2"}));
  EXPECT_EQ(merged.repeated, 1);
}

TEST_F(Merge, ATornLastLineIsLeftOutAndToldOf) {
  fill(0, {result("full", 0, "p1", true)});
  fill(1, {result("full", 0, "p2", true), result("full", 0, "p3", true)});
  const std::string file = folders_[1] + "/results.jsonl";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  Merged merged;
  EXPECT_EQ(ids(merged), (std::vector<std::string>{"p1", "p2"}));
  EXPECT_EQ(merged.torn, std::vector<std::string>{file});
}

TEST_F(Merge, DifferentResultsOfOneItemAreRefused) {
  fill(0, {result("full", 0, "p1", true)});
  fill(1, {result("full", 0, "p1", false)});
  const std::string message = refusal();
  EXPECT_NE(message.find(folders_[1] + "/results.jsonl:1 and " + folders_[0] + "/results.jsonl:1"),
            std::string::npos)
      << message;
}

// As `vase eval show` does.
TEST_F(Merge, WhatAFolderCannotHoldIsRefused) {
  fill(0, {result("full", 0, "p1", true)});
  fill(1, {result("full", 0, "p2", true)});
  const std::string file = folders_[1] + "/results.jsonl", line = content_of(file);
  std::ofstream(file) << line << line;
  EXPECT_NE(refusal().find(file + ":2: p2 of t, full, run 0, sample 0 comes twice"), std::string::npos) << refusal();
  json other = json::parse(line);
  other["budget"] = 64;
  std::ofstream(file) << other.dump() << "\n";
  EXPECT_NE(refusal().find("is not what the configuration of its folder asks for"), std::string::npos) << refusal();
}

TEST_F(Merge, OtherConfigurationsAreRefused) {
  fill(0, {result("full", 0, "p1", true)});
  fill(1, {result("full", 0, "p2", true)}, config(1));
  const std::string message = refusal();
  EXPECT_NE(message.find("temperature is 0 in " + folders_[0] + " and 1 in " + folders_[1]),
            std::string::npos)
      << message;
}

TEST_F(Merge, AFolderWithoutResultsIsRefused) {
  fill(0, {});
  EXPECT_NE(refusal().find(folders_[1] + " holds no results"), std::string::npos);
}

}  // namespace
}  // namespace vase::eval
