// `vase bench`, as a user runs it.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli_fixture.h"

namespace vase {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class CliBench : public Cli {
 protected:
  ~CliBench() override { fs::remove(out_); }

  Outcome bench(const std::string& flags, const std::string& before = "") const {
    return vase(
        "bench --threads 1 --model " + model_.path() + " " + flags + (before.empty() ? "" : " </dev/null"),
        before);
  }
  std::string out_ = test::temporary_path(".rows");
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Cells of a line; commas in quotes do not part them.
std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

constexpr const char* kSmall = "--prompt 8 --tokens 4 --depth 100 --kv-budget 80 --kv-buffer 16 ";

TEST_F(CliBench, ReportsWhatReproducesIt) {
  for (const std::string type : {"f16", "f32", "bf16", "q8_0"}) {
    const std::string peer = type == "q8_0" ? "llama-flash" : "llama";
    const Outcome o = bench(kSmall + std::string("--repeats 2 --json --peer ") + peer + " --kv-type " + type);
    ASSERT_EQ(o.code, 0) << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j["incomplete"], false);
    ASSERT_EQ(j["rows"].size(), 2u);
    EXPECT_EQ(j["rows"][0]["test"], "pp8");
    EXPECT_GT(j["rows"][0]["first_token_ms"].get<double>(), 0);
    // The one row about generation stands at the top as well.
    EXPECT_EQ(j["test"], "tg4");
    EXPECT_GT(j["ratio_vs_peer"].get<double>(), 0);
    EXPECT_EQ(j["ratio_vs_peer"], j["rows"][1]["ratio_vs_peer"]);
    EXPECT_EQ(j["threads"], 1);
    EXPECT_EQ(j["key_type"], type);
    EXPECT_EQ(j["value_type"], type);
    EXPECT_EQ(j["path"], "fused");
    EXPECT_EQ(j["memory"]["budget"], 80);
    EXPECT_EQ(j["memory"]["buffer"], 16);
    EXPECT_EQ(j["tokens_seen"], 104);
    EXPECT_NEAR(j["kept_fraction"].get<double>(), 80.0 / 104, 1e-9);
    EXPECT_EQ(j["tokens_per_s_repeats"].size(), 2u);
    EXPECT_EQ(j["fingerprint"].get<std::string>().size(), 16u);
    EXPECT_EQ(j["date"].get<std::string>().size(), std::string("2026-01-01T00:00:00Z").size());
    for (const char* key : {"simd", "build", "compiler", "cpu", "model"})
      EXPECT_FALSE(j[key].get<std::string>().empty()) << key;
  }
}

TEST_F(CliBench, AllFormatsTellTheSame) {
  // The file gets the format, standard output a table of the same rows.
  for (const std::string format : {"json", "jsonl", "csv", "markdown"}) {
    const Outcome o =
        bench(kSmall + std::string("--repeats 1 --policy full --policy vase-attnv --predict --format ") +
              format + " --out " + out_);
    ASSERT_EQ(o.code, 0) << o.err;
    const std::vector<std::string> table = lines_of(o.out), file = lines_of(contents(out_));
    ASSERT_EQ(table.size(), 4u + 4);
    const auto titles = std::ranges::count(table[2], '|');
    for (size_t i = 3; i < table.size(); ++i)
      EXPECT_EQ(std::ranges::count(table[i], '|'), titles) << table[i];
    std::vector<json> rows;
    if (format == "markdown") {
      EXPECT_EQ(contents(out_), o.out);
    } else if (format == "json") {
      const json report = json::parse(contents(out_));
      rows.assign(report["rows"].begin(), report["rows"].end());
      EXPECT_FALSE(report.contains("policy"));  // the rows differ in it
      EXPECT_EQ(report["depth"], 100);
    } else if (format == "jsonl") {
      for (const std::string& line : file) rows.push_back(json::parse(line));
    } else {
      const std::vector<std::string> fields = csv_cells(file[0]);
      for (size_t i = 1; i < file.size(); ++i) {
        const std::vector<std::string> cells = csv_cells(file[i]);
        ASSERT_EQ(cells.size(), fields.size()) << file[i];
        rows.emplace_back();
        for (size_t c = 0; c < cells.size(); ++c) {
          const bool parses = json::accept(cells[c]);
          rows.back()[fields[c]] = parses ? json::parse(cells[c]) : json(cells[c]);
        }
      }
    }
    if (rows.empty()) continue;
    ASSERT_EQ(rows.size(), 4u) << format;
    for (size_t i = 0; i < rows.size(); ++i) {
      char speed[32];
      std::snprintf(speed, sizeof(speed), "| %.2f (", rows[i]["tokens_per_s"].get<double>());
      const std::string& line = table[4 + i];
      EXPECT_NE(line.find(speed), std::string::npos) << format << ": " << line;
      EXPECT_NE(line.find("| " + rows[i]["test"].get<std::string>() + " @ d100 |"), std::string::npos)
          << line;
      EXPECT_NE(line.find("| " + rows[i]["policy_name"].get<std::string>() + " |"), std::string::npos)
          << line;
    }
    EXPECT_GT(rows[3]["predicted_tokens_per_s"].get<double>(), 0);
  }
}

TEST_F(CliBench, TimesBothKindsOfProducts) {
  const Outcome o = bench("--tokens 2 --repeats 1 --kv-buffer 16 --kv-budget 80 --products both --format jsonl");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<std::string> lines = lines_of(o.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::parse(lines[0])["products"], "own");
  EXPECT_EQ(json::parse(lines[1])["products"], "ggml");
  const Outcome both = bench("--tokens 2 --products both --predict");
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("--products own or ggml"), std::string::npos) << both.err;
}

TEST_F(CliBench, PrintsRowsInEveryFormat) {
  const auto count = [&](const std::string& format) {
    return lines_of(bench("--tokens 2 --repeats 1 --kv-buffer 16 --kv-budget 80,90 --format " + format).out);
  };
  const std::vector<std::string> csv = count("csv"), jsonl = count("jsonl");
  EXPECT_EQ(csv.size(), 1u + 2);
  ASSERT_EQ(jsonl.size(), 2u);
  EXPECT_EQ(json::parse(jsonl[0])["budget"], 80);
  EXPECT_EQ(json::parse(jsonl[1])["budget"], 90);
}

TEST_F(CliBench, OneKindOfTestAloneWhenOneIsGiven) {
  const auto tests = [&](const std::string& flags) {
    const Outcome o = bench("--json --repeats 1 " + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    const json report = json::parse(o.out);
    std::string all;
    for (const json& row : report["rows"]) all += row["test"].get<std::string>() + " ";
    return all;
  };
  EXPECT_EQ(tests("--tokens 2"), "tg2 ");
  EXPECT_EQ(tests("--prompt 3,4"), "pp3 pp4 ");
  EXPECT_EQ(tests("--prompt 3 --tokens 2,5"), "pp3 tg2 tg5 ");
  EXPECT_EQ(tests("--prompt 0 --tokens 2"), "tg2 ");
}

TEST_F(CliBench, RefusesWhatCannotBe) {
  const std::string small = kSmall;
  expect_usage_error(bench("--repeats 0"), {"--repeats", "0", "1"});
  expect_usage_error(bench("--prompt 0 --tokens 0"), {"nothing", "--prompt", "--tokens"});
  expect_usage_error(bench("--tokens 1,,2"), {"--tokens", "''"});
  expect_usage_error(bench("--depth 1,x"), {"--depth", "'x'"});
  expect_usage_error(bench("--peer vllm"), {"--peer", "vllm", "llama"});
  expect_usage_error(bench("--format xml"), {"--format", "xml", "jsonl"});
  expect_usage_error(bench("--json --format csv"), {"--json", "--format"});
  expect_usage_error(bench("--policy nonsense"), {"nonsense"});
  expect_usage_error(bench(small + "--peer llama --kv-type f16,f32"), {"--kv-type"});
  expect_usage_error(bench(small + "--peer llama --kv-type q8_0"), {"q8_0", "llama-flash"});
  expect_usage_error(bench("--peer-tokens 3"), {"--peer-tokens", "--peer"});
  expect_usage_error(bench("--sweep-batch"), {"--memory-mb"});
  expect_usage_error(bench("--memory-mb 9"), {"--sweep-batch"});
  expect_usage_error(bench("--sweep-batch --memory-mb 9 --batch 2"), {"--batch"});
  expect_usage_error(bench("--sweep-batch --memory-mb 9 --peer llama"), {"--peer"});
  expect_usage_error(bench(small + "--ctx 105"), {"105", "108", "--ctx"});  // 100 and the longer test
  EXPECT_EQ(bench("--tokens 4 --repeats 1 --depth 100 --policy full --ctx 104").code, 0);
  expect_usage_error(bench("--prefill dense"), {"--prefill"});
  expect_usage_error(bench("--weights f16"), {"--weights", "--shape"});
  expect_usage_error(bench("--out " + model_.path()), {"--out", "--model"});
}

TEST_F(CliBench, RefusesBeforeAnythingIsTimedOrWritten) {
  const Outcome deep = bench("--tokens 2 --depth 1000000 --batch 256 --policy full --out " + out_);
  EXPECT_EQ(deep.code, 1);
  EXPECT_NE(deep.err.find("MiB are free"), std::string::npos) << deep.err;
  EXPECT_FALSE(fs::exists(out_));
  const Outcome nowhere = bench("--tokens 2 --out /nonexistent/rows");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("/nonexistent/rows"), std::string::npos);
  EXPECT_EQ(nowhere.out, "");
}

TEST_F(CliBench, AFullDiskIsAnErrorAndTheRowsAreShown) {
  for (const std::string format : {"json", "csv"}) {
    const Outcome o = bench("--tokens 2 --repeats 1 --out /dev/full --format " + format);
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("No space"), std::string::npos) << o.err;
    EXPECT_NE(o.out.find("| tg2 |"), std::string::npos) << o.out;
  }
}

TEST_F(CliBench, AnInterruptedRunKeepsItsRows) {
  const std::string endless = "--tokens 64 --repeats 1000 --depth 100 ",
                    limit = "timeout --foreground --preserve-status -s INT 3 ";
  const Outcome o = bench(endless + "--json", limit);
  EXPECT_EQ(o.code, 130) << o.err;
  const json report = json::parse(o.out);
  EXPECT_EQ(report["incomplete"], true);
  EXPECT_EQ(report["rows"][0]["incomplete"], true);
  EXPECT_GT(report["rows"][0]["tokens_per_s_repeats"].size(), 0u);
  const Outcome table = bench(endless, limit);
  EXPECT_EQ(table.code, 130) << table.err;
  EXPECT_NE(table.out.find("incomplete: interrupted"), std::string::npos) << table.out;
}

TEST_F(CliBench, AKilledRunLeavesWholeRows) {
  // Killed once a row is there, with many more to come; no time for good manners.
  const auto killed = [&](const std::string& format) {
    fs::remove(out_);
    const std::string run = std::string(VASE_BINARY) + " bench --threads 1 --model " + model_.path() +
                            " --tokens 1 --repeats 1 --batch 1,2,3,4,5,6,7,8 --depth 0,1,2,3,4,5,6,7,8,9 --format " +
                            format + " --out " + out_ + " >/dev/null 2>&1 & ";
    const std::string kill = "until [ -s " + out_ + " ] || ! kill -0 $!; do sleep 0.05; done; kill -KILL $!; wait $!";
    EXPECT_NE(std::system((run + kill + " 2>/dev/null").c_str()), 0);
    return contents(out_);
  };
  EXPECT_EQ(json::parse(killed("json"))["incomplete"], true);
  const std::vector<std::string> lines = lines_of(killed("jsonl"));
  EXPECT_GE(lines.size(), 1u);
  EXPECT_LT(lines.size(), 80u);
  for (const std::string& line : lines) EXPECT_EQ(json::parse(line)["incomplete"], false);
}

TEST_F(CliBench, ASweepShowsTheBatchOfEachBudget) {
  const Outcome o = bench(
      "--json --tokens 2 --repeats 1 --depth 200 --kv-buffer 16 --kv-budget 64,128 --policy full "
      "--policy vase-attnv --sweep-batch --memory-mb 12");
  ASSERT_EQ(o.code, 0) << o.err;
  const json rows = json::parse(o.out)["rows"];
  ASSERT_EQ(rows.size(), 3u);
  for (const json& row : rows) {
    EXPECT_EQ(row["memory_limit_mib"], 12);
    EXPECT_LE(
        row["weights_mib"].get<double>() + row["kv_mib"].get<double>() + row["compute_mib"].get<double>(),
        12);
  }
  EXPECT_LT(rows[0]["batch"], rows[1]["batch"]);
  const Outcome none = bench("--tokens 2 --sweep-batch --memory-mb 1");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_NE(none.out.find("none fits"), std::string::npos) << none.out;
}

TEST_F(CliBench, RandomModelsNeedAPlace) {
  expect_usage_error(
      vase("bench --shape qwen3-0.6b </dev/null", "env -u HOME -u VASE_CACHE -u XDG_CACHE_HOME "),
      {"HOME", "--cache-dir"});
}

}  // namespace
}  // namespace vase
