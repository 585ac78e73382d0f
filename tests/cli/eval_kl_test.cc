// `vase eval kl` and `vase tune` when something ends them early, and what their files hold.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli_fixture.h"

namespace vase {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CliEvalKl : public Cli {
 protected:
  CliEvalKl() {
    fs::create_directory(folder_);
    for (const std::string name : {"a", "b"}) write_lines(path(name + ".txt"), name);
    std::ofstream many(path("many.jsonl"));
    for (int i = 0; i < 500; ++i) {
      many << json({{"id", "t" + std::to_string(i)}, {"text", contents(path("a.txt")) + std::to_string(i)}})
                  .dump()
           << "\n";
    }
  }
  ~CliEvalKl() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string with_model(const std::string& command) const {
    return command + " --threads 1 --model " + small_.path() + " --kv-buffer 8 --tokens 300 ";
  }
  std::string two_texts() const { return " --text " + path("a.txt") + " --text " + path("b.txt"); }
  // Of a file whose every line is whole.
  std::vector<json> lines_of(const std::string& file) const {
    const std::string content = contents(file);
    EXPECT_TRUE(content.empty() || content.back() == '\n');
    std::vector<json> lines;
    std::istringstream in(content);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }
  // Texts of a file of `eval kl`, every one with its two noise floors and so many other lines.
  size_t whole_texts(const std::string& file, size_t lines) const {
    std::map<std::string, size_t> counts;
    for (const json& line : lines_of(file)) ++counts[line["text"]];
    for (const auto& [text, count] : counts) EXPECT_EQ(count, lines + 2) << text;
    EXPECT_GE(counts.size(), 1u);
    return counts.size();
  }
  // Starts the command and sends the signal as soon as the file is there.
  Outcome ended_at(const std::string& file, const std::string& signal, const std::string& arguments) const {
    return program("( " VASE_BINARY " " + arguments + " </dev/null & until [ -s " + file +
                   " ] || ! kill -0 $!; do sleep 0.01; done; kill -" + signal + " $!; wait $! )");
  }

  const std::string folder_ = test::temporary_path(".kl"), out_ = folder_ + "/kl.jsonl";
  const std::string many_ = " --text " + path("many.jsonl");
  test::TinyModel small_{{.context = 1024}};
};

TEST_F(CliEvalKl, LinesAndSummariesHoldTheirSettings) {
  const Outcome o = vase(
      with_model("eval kl --json --kv-period 4 --kv-type q8_0,q4_0 --seeds 2 --evict-seed 3 --chunk 16") +
      two_texts() + " --kv-budget 40 --policy random --policy streaming --out " + out_);
  ASSERT_EQ(o.code, 0) << o.err;
  const json summary = json::parse(o.out);
  EXPECT_EQ(summary["evict_seed"], 3);
  ASSERT_EQ(summary["rows"].size(), 2u);
  EXPECT_EQ(summary["rows"][0]["seeds"], 2);
  EXPECT_EQ(summary["rows"][1]["seeds"], 1) << "it draws nothing";
  const std::vector<json> lines = lines_of(out_);
  ASSERT_EQ(lines.size(), 2u * (2 + 2 + 1));
  const json cache = {{"buffer", 8},          {"period", 4},         {"key_type", "q8_0"},
                      {"value_type", "q4_0"}, {"prefill", "evict"},  {"trigger", "general"},
                      {"positions", "text"},  {"layers", "uniform"}, {"pyramid_beta", nullptr},
                      {"stagger", true}};
  for (const json& row : {lines[2], lines[3], lines[4], summary["rows"][0], summary["rows"][1]}) {
    EXPECT_EQ(row["cache"], cache);
    EXPECT_EQ(row["chunk"], 16);
    EXPECT_NE(row["parts"].get<std::string>().find("select="), std::string::npos) << row["parts"];
  }
  EXPECT_EQ(lines[0]["policy"], "full, other chunk size");
  EXPECT_EQ(lines[0]["chunk"], 8);
  EXPECT_EQ(lines[1]["cache"]["key_type"], "f32");
  EXPECT_EQ(lines[3]["evict_seed"], 4);
}

TEST_F(CliEvalKl, TuneHoldsItsSettings) {
  const Outcome search =
      vase(with_model("tune --json --target-kl 100 --evict-seed 3 --seeds 2 --policy random") + two_texts());
  ASSERT_EQ(search.code, 0) << search.err;
  const json found = json::parse(search.out), row = found["policies"][0]["measured"][0];
  EXPECT_EQ(found["evict_seed"], 3);
  EXPECT_EQ(row["seeds"], 2);
  EXPECT_EQ(row["cache"]["buffer"], 8);
  EXPECT_EQ(found["noise_floors"][1]["cache"]["key_type"], "f32");
  const Outcome bytes =
      vase(with_model("tune --json --kv-budget-mb 0.1 --kv-type q4_0 --policy random") + two_texts());
  ASSERT_EQ(bytes.code, 0) << bytes.err;
  EXPECT_EQ(json::parse(bytes.out)["measured"][0]["cache"]["value_type"], "q4_0");
}

TEST_F(CliEvalKl, AFullDiskIsAnErrorAndTheRowsAreShown) {
  const std::string command =
      with_model("eval kl") + many_ + " --texts 30 --policy random --kv-budget 40 --out ";
  const Outcome pipe = vase(command + "/dev/full");
  EXPECT_EQ(pipe.code, 1);
  EXPECT_NE(pipe.err.find("No space"), std::string::npos) << pipe.err;
  EXPECT_NE(pipe.out.find("Ended early"), std::string::npos) << pipe.out;
  EXPECT_NE(pipe.out.find("| random | 40 |"), std::string::npos) << pipe.out;
  const Outcome file = vase(command + out_ + " --json", "ulimit -f 16; ");  // some texts fit
  EXPECT_EQ(file.code, 1);
  EXPECT_NE(file.err.find("kl.jsonl: File too large"), std::string::npos) << file.err;
  const size_t kept = whole_texts(out_, 1);
  EXPECT_EQ(json::parse(file.out)["rows"][0]["texts"], kept + 1)
      << "the one that had no room is shown as well";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 4)
      << "texts and lines, and nothing half made";
}

TEST_F(CliEvalKl, AKilledRunLeavesWholeLines) {
  const Outcome o =
      ended_at(out_, "KILL", with_model("eval kl") + many_ + " --policy random --kv-budget 40 --out " + out_);
  EXPECT_EQ(o.code, 128 + 9);
  EXPECT_LT(whole_texts(out_, 1), 500u);
}

TEST_F(CliEvalKl, AnInterruptedRunComparesRowsOverTheSameTexts) {
  const Outcome o = ended_at(out_, "INT",
                             with_model("eval kl") + many_ +
                                 " --json --policy random --policy streaming --kv-budget 40 --kv-budget 64 "
                                 "--seeds 20 --out " +
                                 out_);
  EXPECT_EQ(o.code, 130) << o.err;
  const json summary = json::parse(o.out);
  EXPECT_EQ(summary["complete"], false);
  const size_t texts = whole_texts(out_, 2 * 20 + 2);
  EXPECT_LT(texts, 500u);
  for (const json& row : summary["rows"]) EXPECT_EQ(row["texts"], texts) << row["policy"];
  for (const json& floor : summary["noise_floors"]) EXPECT_EQ(floor["texts"], texts);
}

TEST_F(CliEvalKl, AnInterruptedTuneShowsWhatItHas) {
  const std::string limit = "timeout --foreground --preserve-status -s INT 3 ",
                    command = with_model("tune") + many_;
  const Outcome bytes =
      vase(command + " --kv-budget-mb 0.1 --kv-type q4_0 --policy random --policy streaming", limit);
  EXPECT_EQ(bytes.code, 130) << bytes.err;
  EXPECT_NE(bytes.out.find("Ended early: the texts until then."), std::string::npos) << bytes.out;
  for (const char* row : {"| q4_0 | random |", "| q4_0 | streaming |"})
    EXPECT_NE(bytes.out.find(row), std::string::npos) << row << "\n" << bytes.out;
  const Outcome search = vase(command + " --texts 2 --step 1 --seeds 1000 --policy random", limit);
  EXPECT_EQ(search.code, 130) << search.err;
  EXPECT_NE(search.out.find("Ended early: what was measured until then."), std::string::npos) << search.out;
  EXPECT_NE(search.out.find("| full, f32 rows | - |"), std::string::npos) << search.out;
}

TEST_F(CliEvalKl, ATextWithoutNumbersEndsTheRunAndTheOthersAreShown) {
  const test::TinyModel broken({.context = 1024, .nan_token = '!'});
  std::ofstream(path("b.txt")) << std::string(50, 'x') << "! and more";
  const std::string flags = " --threads 1 --model " + broken.path() + " --kv-buffer 8" + two_texts();
  const std::string why = ": the model gave NaN or infinite logits for the token at position 51\n";
  const Outcome kl = vase("eval kl --kv-budget 40 --policy random --out " + out_ + flags);
  EXPECT_EQ(kl.code, 1);
  EXPECT_EQ(kl.err, "vase: " + path("b.txt") + ", full cache" + why);
  EXPECT_NE(kl.out.find("| random | 40 |"), std::string::npos) << kl.out;
  EXPECT_EQ(kl.out.find("nan"), std::string::npos) << kl.out;
  EXPECT_EQ(whole_texts(out_, 1), 1u);
  for (const char* way : {"--target-kl 1", "--kv-budget-mb 0.1"}) {
    const Outcome tune = vase("tune --policy random " + std::string(way) + flags);
    EXPECT_EQ(tune.code, 1);
    EXPECT_EQ(tune.err, "vase: " + path("b.txt") + ", full cache" + why);
  }
  const Outcome attention = vase("analyze attention --policy random --kv-budget 40" + flags);
  EXPECT_EQ(attention.code, 1);
  EXPECT_EQ(attention.err, "vase: " + path("b.txt") + ", random at 40" + why);
}

TEST_F(CliEvalKl, NothingIsGivenTwice) {
  const std::string command = with_model("eval kl") + two_texts();
  expect_usage_error(vase(command + " --policy vase --policy vase"),
                     {"--policy 'vase' with --kv-budget 128", "given twice"});
  expect_usage_error(vase(command + " --policy random --kv-budget 64 --kv-budget 64"),
                     {"--kv-budget 64", "given twice"});
  expect_usage_error(vase(command + " --policy random --kv-budget-mb 0.5 --kv-budget-mb 0.50"),
                     {"--kv-budget-mb 0.5", "given twice"});
}

}  // namespace
}  // namespace vase
