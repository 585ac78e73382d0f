// The folder of a run: it grows by whole lines, survives what a kill leaves, and belongs to one configuration
// and one process.
#include "eval/run/results_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "eval/run/hash.h"
#include "eval/run/merge.h"
#include "eval/run/results_file.h"
#include "eval/run/summary.h"
#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json config(double temperature = 0.5) {
  return hashed({{"tasks", json::array({{{"name", "t"}}})},
                 {"cells", {{{"policy", "full"}, {"budget", 0u}}, {{"policy", "vase-attnv"}, {"budget", 128u}}}},
                 {"temperature", temperature}},
                4);
}

class Folder : public testing::Test {
 protected:
  TemporaryFolder parent_;
  const std::string path_ = parent_ / "run", file_ = path_ + "/results.jsonl";

  void append(const std::string& id) {
    ResultsFolder(path_, config()).append(result("full", 0, id, true), {.text = "text of " + id});
  }
  // The message of the error that opening the folder throws.
  std::string refusal(const json& own, ErrorCode code) const {
    try {
      ResultsFolder folder(path_, own);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }
};

TEST_F(Folder, LinesComeBackAsTheyWereWritten) {
  Result one = result("vase-attnv", 128, "p \"1\"\n", false, 3, 2);
  one.item.seed = 18446744073709551615u;
  one.item.evict_seed = 7;
  one.extracted.reset();
  one.evicted = 1234567890123;
  one.kv_bytes = 99;
  ResultsFolder(path_, config())
      .append(one, {.prompt = "q", .prompt_ids = {1, 2}, .text = "a\nb", .tokens = {3}});
  const ResultsFolder again(path_, config());
  ASSERT_EQ(again.results().size(), 1u);
  const Result& back = again.results()[0];
  EXPECT_EQ(back.item.key(), one.item.key());
  EXPECT_EQ(back.item.seed, one.item.seed);
  EXPECT_EQ(back.item.evict_seed, one.item.evict_seed);
  EXPECT_EQ(back.extracted, std::nullopt);
  EXPECT_EQ(back.evicted, one.evicted);
  EXPECT_EQ(back.kv_bytes, one.kv_bytes);
  EXPECT_EQ(back.timing.process, "x");
  EXPECT_TRUE(again.has(one.item));
  one.item.sample = 4;
  EXPECT_FALSE(again.has(one.item));
  const json line = json::parse(content_of(file_));
  EXPECT_EQ(line["text"], "a\nb");
  EXPECT_EQ(line["tokens"], (std::vector<int>{3}));
}

TEST_F(Folder, ATornLastLineIsCutOff) {
  append("a");
  const std::string before = content_of(file_);
  append("b");
  const std::string both = content_of(file_);
  for (const size_t left : {both.size() - 1, both.size() - 20, before.size() + 1}) {
    fs::resize_file(file_, left);
    const ResultsFolder folder(path_, config());
    EXPECT_EQ(folder.results().size(), 1u);
    EXPECT_EQ(folder.torn(), left - before.size());
    EXPECT_EQ(content_of(file_), before);
    std::ofstream(file_) << both;
  }
  append("c");
  EXPECT_EQ(ResultsFolder(path_, config()).results().size(), 3u);
}

TEST_F(Folder, ALastLineThatIsNoJsonIsTornAsWell) {
  append("a");
  const std::string before = content_of(file_);
  std::ofstream(file_, std::ios::app) << std::string(50, '\0') << "\n";
  const ResultsFolder folder(path_, config());
  EXPECT_EQ(folder.results().size(), 1u);
  EXPECT_EQ(content_of(file_), before);
}

TEST_F(Folder, DamageInTheMiddleIsNamedWithItsLine) {
  append("a");
  const std::string line = content_of(file_);
  std::ofstream(file_) << line << "{\"task\":\n" << line;
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt).find("results.jsonl:2: not valid JSON"),
            std::string::npos);
  std::ofstream(file_) << line << "{\"task\": 5}\n";
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt).find("results.jsonl:2: \"task\" is missing"),
            std::string::npos);
  json other = json::parse(line);
  other["budget"] = 64;
  std::ofstream(file_) << other.dump() << "\n" << line;
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt)
                .find("results.jsonl:1: a of t, full at 64, run 0, sample 0 is not what the configuration"),
            std::string::npos);
  std::ofstream(file_) << line << line;
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt)
                .find("results.jsonl:2: a of t, full, run 0, sample 0 comes twice"),
            std::string::npos);
  EXPECT_THROW(read_result_set(path_), Error);  // a table would count it twice
}

// Its first byte cannot be read, which is not its end.
TEST(ReadResults, AFailureIsNoEnd) {
  try {
    read_results("/proc/self/mem", [](const ResultsLine&) {});
    ADD_FAILURE() << "not seen";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResource);
    EXPECT_NE(std::string(e.what()).find("reading /proc/self/mem failed"), std::string::npos) << e.what();
  }
}

TEST_F(Folder, OfANewerVersionIsRefused) {
  append("a");
  const std::string name = path_ + "/" + kConfigName;
  json newer = json::parse(content_of(name));
  newer["config"]["format"] = kResultsFormat + 1;
  std::ofstream(name) << newer;
  try {
    read_config(path_);
    ADD_FAILURE() << "read";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  }
}

TEST_F(Folder, NumbersThatNoRunWrites) {
  append("a");
  const json line = json::parse(content_of(file_));
  const std::pair<const char*, json> wrong[] = {
      {"budget", 1e300}, {"run", 1.5}, {"sample", int64_t{1} << 40}, {"seed", -1}, {"generated_tokens", "9"},
      {"generated_tokens", -9}, {"prompt_tokens", -1}, {"evicted", -1}, {"sample", -1}};
  for (const auto& [key, value] : wrong) {
    json changed = line;
    changed[key] = value;
    std::ofstream(file_) << changed.dump() << "\n";
    const std::string message = refusal(config(), ErrorCode::kCorrupt);
    EXPECT_NE(message.find("results.jsonl:1: \"" + std::string(key) + "\""), std::string::npos) << message;
    EXPECT_NE(message.find("remove the line"), std::string::npos) << message;
  }
}

TEST_F(Folder, AConfigurationThatWasChangedIsRefused) {
  append("a");
  const std::string name = path_ + "/" + kConfigName, lines = content_of(file_);
  json changed = config();
  changed["command"] = {"--another"};  // not of the hash
  std::ofstream(name) << changed;
  EXPECT_EQ(read_config(path_), changed);
  changed["config"]["temperature"] = 0.75;
  std::ofstream(name) << changed;
  for (const json& own : {config(), config(0.75)}) {
    const std::string message = refusal(own, ErrorCode::kCorrupt);
    EXPECT_NE(message.find(name + " was changed after the run began"), std::string::npos) << message;
  }
  EXPECT_THROW(read_result_set(path_), Error);
  EXPECT_EQ(content_of(file_), lines);
}

// The id is known by the seeds that are derived from it.
TEST_F(Folder, LinesOutsideOfThePlanAreRefused) {
  json own = config();
  own["config"].update({{"samples", 2u}, {"seeds", 2u}, {"seed", 5u}, {"evict_seed", 7u}});
  own = hashed(own["config"], 4);
  Result good = result("vase-attnv", 128, "a", true, 1, 1);
  good.item.seed = derived_seed(5, "text", "t", "a", 1);
  good.item.evict_seed = derived_seed(8, "evictions", "t", "a", 1);
  ResultsFolder(path_, own).append(good, {.text = "x"});
  const std::string whole = content_of(file_);
  EXPECT_EQ(read_result_set(path_).results.size(), 1u);
  const auto refuses = [&](json line) {
    std::ofstream(file_) << whole << line.dump() << "\n";
    const std::string message = refusal(own, ErrorCode::kCorrupt);
    EXPECT_NE(message.find("results.jsonl:2: "), std::string::npos) << message;
    EXPECT_NE(message.find("is not what the configuration"), std::string::npos) << message;
    EXPECT_THROW(read_result_set(path_), Error) << line;
  };
  const std::pair<const char*, json> wrong[] = {{"id", "b"},    {"sample", 2}, {"sample", 0},    {"run", 2},
                                                {"run", 0},     {"seed", 5},   {"evict_seed", 8}};
  for (const auto& [key, value] : wrong) {
    json line = json::parse(whole);
    line[key] = value;
    refuses(line);
  }
  json full = json::parse(whole);  // it draws nothing, and has one run
  full.update({{"policy", "full"}, {"budget", 0}});
  refuses(full);
}

TEST_F(Folder, AnotherConfigurationIsRefusedWithWhatDiffers) {
  append("a");
  const std::string before = content_of(file_);
  const std::string message = refusal(config(0.75), ErrorCode::kUsage);
  EXPECT_NE(message.find("temperature is 0.75 in this run and 0.5 in the folder " + path_), std::string::npos)
      << message;
  EXPECT_EQ(content_of(file_), before);
}

TEST_F(Folder, OtherThingsAreLeftAlone) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/thesis.tex") << "dear";
  EXPECT_NE(refusal(config(), ErrorCode::kUsage).find("thesis.tex"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 1);
  fs::remove_all(path_);
  std::ofstream(path_) << "a file";
  EXPECT_NE(refusal(config(), ErrorCode::kUsage).find("is a file"), std::string::npos);
}

TEST_F(Folder, APipeInPlaceOfResultsIsNotWaitedFor) {
  append("a");
  fs::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_NE(refusal(config(), ErrorCode::kUsage).find(file_ + " is a pipe"), std::string::npos);
}

// Neither by those who only read, nor behind a link.
TEST_F(Folder, WhatIsNoRegularFileIsNotRead) {
  append("a");
  const std::string name = path_ + "/" + kConfigName, pipe = parent_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto message_of = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage) << e.what();
      return e.what();
    }
    return "read";
  };
  const std::string why = " is a pipe, a device or a folder; give a file that `vase eval` has written";
  for (const std::string& target : {pipe, std::string("/dev/zero"), path_}) {
    fs::remove(file_);
    fs::create_symlink(target, file_);
    const std::vector<std::string> folders = {path_};
    EXPECT_EQ(message_of([&] { read_result_set(path_); }), file_ + why);
    EXPECT_EQ(message_of([&] { merge_results(folders, [](std::string_view) {}); }),
              file_ + why);
  }
  fs::remove(name);
  fs::create_directory(name);
  EXPECT_EQ(message_of([&] { read_config(path_); }), name + why);
}

TEST_F(Folder, ResultsWithoutAConfigurationAreRefused) {
  append("a");
  fs::remove(path_ + "/config.json");
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt).find("config.json"), std::string::npos);
  std::ofstream(path_ + "/config.json") << "{\"hash\": 1}";
  EXPECT_NE(refusal(config(), ErrorCode::kCorrupt).find("config.json: not a configuration"),
            std::string::npos);
}

TEST_F(Folder, WhatAKillLeftBeforeTheConfigurationIsNoHindrance) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/config.json.part77") << "{";
  std::ofstream file(file_);
  EXPECT_TRUE(ResultsFolder(path_, config()).results().empty());
  EXPECT_EQ(read_config(path_), config());
}

TEST_F(Folder, OneProcessAtATime) {
  ResultsFolder first(path_, config());
  EXPECT_NE(refusal(config(), ErrorCode::kResource).find("another process"), std::string::npos);
}

// A lock that outlived its process would stop everyone.
TEST_F(Folder, AKilledProcessLeavesNoLock) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const ResultsFolder held(path_, config());
    [[maybe_unused]] const ssize_t written = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_NE(refusal(config(), ErrorCode::kResource), "");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(ResultsFolder(path_, config()).results().empty());
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace vase::eval
