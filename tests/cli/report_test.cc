// `vase report` as a user meets it: from real runs to a page, and what it refuses.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.h"
#include "eval/report/xml.h"

namespace vase {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class CliReport : public Cli {
 protected:
  CliReport() {
    fs::create_directory(folder_);
    std::ofstream out(path("problems.jsonl"));
    for (int i = 0; i < 3; ++i) {
      out << json({{"id", "p" + std::to_string(i)},
                   {"problem", "How many? " + std::to_string(i)},
                   {"answer", "7"}})
                 .dump()
          << "\n";
    }
    std::ofstream text(path("text.txt"));
    for (int i = 0; i < 15; ++i) text << "line " << i * i << ", ";
  }
  ~CliReport() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void make_run(const std::string& out, const std::string& flags = "") const {
    const Outcome o =
        vase("eval run --threads 1 --model " + small_.path() + " --task jsonl=" + path("problems.jsonl") +
             " --policy full --policy vase-attnv --policy random --kv-budget 40 --kv-budget 64 --kv-buffer 8 "
             "--max-tokens 60 --out " +
             path(out) + " " + flags);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  void make_divergences(const std::string& out) const {
    const Outcome o =
        vase("eval kl --threads 1 --model " + small_.path() + " --text " + path("text.txt") +
             " --policy vase-attnv --policy random --kv-budget 40 --kv-budget 64 --kv-buffer 8 --out " +
             path(out));
    ASSERT_EQ(o.code, 0) << o.err;
  }
  // Refused with the code, the words in the message, and no page.
  void expect_refused(const std::string& arguments, int code, const std::vector<std::string>& words) const {
    const Outcome o = vase("report " + arguments + " --out " + path("page.html"));
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    for (const std::string& word : words)
      EXPECT_NE(o.err.find(word), std::string::npos) << word << "\n" << o.err;
    EXPECT_FALSE(fs::exists(path("page.html"))) << arguments;
  }

  const std::string folder_ = test::temporary_path(".report");
  test::TinyModel small_{{.context = 1024}};
};

TEST_F(CliReport, MakesOnePageOfRunsAndDivergences) {
  make_run("run");
  make_divergences("kl.jsonl");
  const Outcome o = vase("report " + path("run") + " " + path("kl.jsonl") + " --title 'A & B' --out " +
                         path("page.html") + " --markdown " + path("page.md"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("15 texts of 1 runs, 1 files"), std::string::npos) << o.err;
  const std::vector<test::Element> all = test::XmlReader::elements(contents(path("page.html")));
  EXPECT_EQ(std::ranges::count(all, "svg", &test::Element::name), 5);
  EXPECT_NE(std::ranges::find(all, "A & B", &test::Element::text), all.end());
  const std::string markdown = contents(path("page.md"));
  for (const char* part : {"# A &amp; B\n", "| problems | vase-attnv | 40 | 3 | 3 |", "complete, 15 texts",
                           "| full, f32 rows | - |"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
  }
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
  }
}

TEST_F(CliReport, PrintsTheNumbersAsJson) {
  make_run("run");
  make_divergences("kl.jsonl");
  const Outcome o =
      vase("report --json " + path("run") + " " + path("kl.jsonl") + " --out " + path("page.html"));
  ASSERT_EQ(o.code, 0) << o.err;
  const json object = json::parse(o.out);
  EXPECT_EQ(object["rows"].size(), 5u);
  EXPECT_EQ(object["folders"].size(), 1u);
  ASSERT_EQ(object["kl"].size(), 1u);
  EXPECT_EQ(object["kl"][0]["rows"].size(), 6u) << "two floors, two policies at two budgets";
  EXPECT_EQ(object["page"], path("page.html"));
  EXPECT_TRUE(object["markdown"].is_null());
}

TEST_F(CliReport, ARunThatIsNotFinishedIsShownAndSaidToBe) {
  make_run("run");
  const std::string lines = contents(path("run/results.jsonl"));
  std::ofstream(path("run/results.jsonl"), std::ios::binary) << lines.substr(0, lines.size() - 30);
  ASSERT_EQ(vase("report " + path("run") + " --out " + path("page.html")).code, 0);
  EXPECT_NE(contents(path("page.html")).find("NOT FINISHED: 14 of 15 texts"), std::string::npos);
}

TEST_F(CliReport, ATornFileOfDivergencesIsShownAndSaidToBe) {
  make_divergences("kl.jsonl");
  const std::string lines = contents(path("kl.jsonl"));
  std::ofstream(path("kl.jsonl"), std::ios::binary) << lines.substr(0, lines.size() - 30);
  ASSERT_EQ(vase("report " + path("kl.jsonl") + " --out " + path("page.html")).code, 0);
  EXPECT_NE(contents(path("page.html")).find("last line is not whole"), std::string::npos);
}

TEST_F(CliReport, RefusesWhatItCannotShow) {
  make_run("run");
  fs::create_directory(path("empty"));
  fs::create_directory(path("begun"));
  fs::copy(path("run/config.json"), path("begun/config.json"));
  std::ofstream(path("begun/results.jsonl")).flush();
  std::ofstream(path("other.md")) << "# Another program's file\n\nwith text\n";
  expect_refused(path("empty"), 1, {"empty", "holds no results"});
  expect_refused(path("begun"), 1, {"nothing to show"});
  expect_refused(path("nowhere"), 1, {"cannot read", "nowhere"});
  expect_refused(path("other.md"), 1, {"other.md:1", "eval kl --out"});
  expect_refused(path("run/results.jsonl"), 1, {"results.jsonl:1", "give its folder"});
  expect_refused(path("run") + " " + path("run/../run"), 2, {"the same file"});
  fs::copy(path("run"), path("copy"));
  expect_refused(path("run") + " " + path("copy"), 2, {"eval merge"});
  expect_refused("", 2, {"input"});
  expect_refused(path("run") + " --title '\xFF'", 2, {"--title", "UTF-8"});
}

TEST_F(CliReport, NeverReplacesWhatItIsMadeFrom) {
  make_run("run");
  make_divergences("kl.jsonl");
  const std::string config = contents(path("run/config.json")), lines = contents(path("kl.jsonl"));
  const std::string inputs = "report " + path("run") + " " + path("kl.jsonl") + " --out ";
  expect_usage_error(vase(inputs + path("kl.jsonl")), {"--out", "the same file"});
  expect_usage_error(vase(inputs + path("run/config.json")), {"--out", "the same file"});
  expect_usage_error(vase(inputs + path("x.html") + " --markdown " + path("x.html")),
                     {"--markdown", "--out"});
  expect_usage_error(vase(inputs + path("run")), {"--out"});
  EXPECT_EQ(contents(path("run/config.json")), config);
  EXPECT_EQ(contents(path("kl.jsonl")), lines);
  EXPECT_FALSE(fs::exists(path("x.html")));
}

TEST_F(CliReport, AFullDiskLeavesTheOldPage) {
  make_run("run");
  std::ofstream(path("page.html")) << "old";
  const Outcome o = vase("report " + path("run") + " --out " + path("page.html"), "ulimit -f 4; ");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("page.html"), std::string::npos) << o.err;
  EXPECT_EQ(contents(path("page.html")), "old");
}

}  // namespace
}  // namespace vase
