// Policies that read a part of the cache, and the commands that serve them: capture, calibrate.
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli_fixture.h"
#include "policies/seer_files.h"

namespace vase {
namespace {

class CliReading : public Cli {
 protected:
  CliReading() {
    std::ofstream(text_) << std::string(300, 'a') << "bcdef";
  }
  ~CliReading() override {
    for (const std::string& path : {text_, out_}) std::remove(path.c_str());
  }
  Outcome capture(const std::string& flags) const {
    return vase("capture --threads 1 --model " + model_.path() + " " + flags);
  }

  std::string text_ = test::temporary_path(".txt"), out_ = test::temporary_path(".npz");
};

TEST_F(CliReading, RunShowsTheMemoryAndWhatIsRead) {
  const Outcome o = run("--policy quest --kv-budget 48 --ctx 256 --temp 0 --max-tokens 100");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.substr(0, 6), "abcdef");
  for (const char* part : {"256 slots x", "MiB block summaries", "of which 48 tokens are read per step and head"}) {
    EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
  }
}

TEST_F(CliReading, FlagsThatDoNothingAreRefused) {
  expect_usage_error(run("--policy quest --kv-buffer 8"), {"--kv-buffer", "reads never evicts", "leave it out"});
  expect_usage_error(run("--policy oracle-blocks --trigger parity"), {"--trigger", "leave it out"});
  expect_usage_error(run("--policy quest --protect prompt"), {"takes no protect"});
  expect_usage_error(run("--policy seer-attention"), {"needs a file", "read=seer:gates=FILE"});
}

TEST_F(CliReading, GateFilesAreCheckedBeforeAnythingRuns) {
  const Outcome missing = run("--policy read=seer:gates=/nowhere/gates");
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("cannot read the gate file /nowhere/gates"), std::string::npos) << missing.err;
  test::write_file(out_, test::SeerFile{}.bytes());
  expect_usage_error(run("--policy read=seer:gates=" + out_), {"were made for", "this model has"});
}

TEST_F(CliReading, EvalComparesThemWithEvictionAtEveryBudget) {
  const Outcome o =
      vase("eval kl --threads 1 --model " + model_.path() + " --text " + text_ +
           " --tokens 120 --policy oracle-blocks --policy snapkv --kv-budget 24 --kv-budget 64 --kv-buffer 8");
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* row : {"| oracle-blocks | 24 |", "| oracle-blocks | 64 |", "| snapkv | 24 |", "| snapkv | 64 |"}) {
    EXPECT_NE(o.out.find(row), std::string::npos) << row << "\n" << o.out;
  }
  EXPECT_NE(o.out.find("| 56 |\n"), std::string::npos) << "120 tokens, of which the first 64 are read whole\n" << o.out;
}

// The model and the texts are worth more than any result.
TEST_F(CliReading, ResultsNeverReplaceWhatTheyWereMadeFrom) {
  const std::string text = contents(text_), model = contents(model_.path());
  for (const std::string command : {"eval kl", "capture", "calibrate triattention"}) {
    const std::string flags = command + " --model " + model_.path() + " --text " + text_ + " --out ";
    expect_usage_error(vase(flags + text_), {"--out", "is the same file as --text"});
    expect_usage_error(vase(flags + model_.path()), {"--out", "is the same file as --model"});
    EXPECT_EQ(contents(text_), text);
    EXPECT_EQ(contents(model_.path()), model);
  }
}

TEST_F(CliReading, EvalRefusesBeforeTheFirstTextWhatWouldFailLater) {
  const std::string flags = "eval kl --threads 1 --model " + model_.path() + " --text " + text_;
  expect_usage_error(vase(flags + " --text " + text_), {"is the same file as --text"});
  // 34 GiB, which a machine of this size cannot hold.
  if (uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) < uint64_t(30) << 30) {
    const Outcome large = vase(flags + " --kv-budget 128 --kv-type f32 --kv-budget 16777216");
    EXPECT_EQ(large.code, 1);
    EXPECT_NE(large.err.find("at 16777216"), std::string::npos) << large.err;
  }
  test::write_file(out_, test::SeerFile{}.bytes());
  expect_usage_error(vase(flags + " --policy random --policy read=seer:gates=" + out_), {"were made for"});
}

TEST_F(CliReading, CalibrateFailsAtOnceWhereItCannotWrite) {
  const Outcome o =
      vase("calibrate triattention --model " + model_.path() + " --text " + text_ + " --out /nowhere/file");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err, "vase: cannot write /nowhere/file: No such file or directory\n");
}

TEST_F(CliReading, CaptureWritesArraysThatSelectReads) {
  const Outcome o = capture("--text " + text_ + " --tokens 50 --layers 1 --out " + out_);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(contents(out_).substr(0, 2), "PK");
  const Outcome select = vase("select --in " + out_ + " --policy knorm --kv-budget 24 --kv-buffer 8");
  EXPECT_EQ(select.code, 0) << select.err;
}

TEST_F(CliReading, CaptureRefusesWhatItCannotDo) {
  const std::string files = "--text " + text_ + " --out " + out_ + " ";
  expect_usage_error(capture("--out " + out_), {"--text"});
  expect_usage_error(capture(files + "--layers 0,x"), {"--layers", "'x'"});
  expect_usage_error(capture(files + "--layers 7"), {"no layer 7", "0 to 1"});
  EXPECT_EQ(capture("--text /nowhere.txt --out " + out_).code, 1);
  struct stat s;
  EXPECT_NE(stat(out_.c_str(), &s), 0) << "no file is left behind";
}

TEST_F(CliReading, CalibrateWritesWhatTriAttentionReads) {
  const std::string flags = " --model " + model_.path() + " --text " + text_ + " --out " + out_;
  const Outcome o = vase("calibrate triattention --threads 1" + flags);
  EXPECT_EQ(o.code, 0) << o.err;
  const Outcome used =
      run("--policy score=triattention:stats=" + out_ + " --kv-budget 24 --kv-buffer 8 --max-tokens 60");
  EXPECT_EQ(used.code, 0) << used.err;
  expect_usage_error(vase("calibrate triattenton" + flags), {"'triattenton'", "triattention"});
}

}  // namespace
}  // namespace vase
