// The `vase` program under bad circumstances: it destroys no file, leaves nothing half-made, and always ends.
#include <filesystem>
#include <fstream>
#include <string>

#include "cli_fixture.h"

namespace vase {
namespace {

namespace fs = std::filesystem;

// A folder of its own for what a run writes.
class CliSafety : public Cli {
 protected:
  CliSafety() { fs::create_directory(directory_); }
  ~CliSafety() override { fs::remove_all(directory_); }

  std::string in_directory(const std::string& name) const { return directory_ + "/" + name; }
  auto files() const { return std::distance(fs::directory_iterator(directory_), {}); }
  // The exit code of a whole shell command, in which $VASE runs a text that never ends and whose logits go to
  // in_directory("logits").
  int shell(const std::string& command, const std::string& flags = "") const {
    const std::string run = VASE_BINARY " run --raw --threads 1 --ignore-eos --max-tokens 10000000 --model " +
                            model_.path() + " --dump-logits " + in_directory("logits") + " " + flags + " hi";
    const int status = std::system(("VASE='" + run + "'; " + command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const std::string directory_ = test::temporary_path(".safety");
};

TEST_F(CliSafety, OutputsNeverReplaceInputsOrEachOther) {
  const std::string prompt = in_directory("prompt"), link = in_directory("link"), fresh = in_directory("fresh");
  std::ofstream(prompt) << "hi";
  fs::create_hard_link(prompt, link);
  const std::string model_before = contents(model_.path());
  for (const std::string flag : {"--log-evictions", "--dump-logits"}) {
    expect_usage_error(run(flag + " " + model_.path()), {flag, "same file", "--model"});
    for (const std::string& path : {prompt, link}) {
      expect_usage_error(run(flag + " " + path + " --file " + prompt, ""), {flag, "same file", "--file"});
      expect_usage_error(vase("run --raw " + flag + " " + path + " --model " + model_.path() + " <" + prompt, ":; "),
                         {flag, "same file", "standard input"});
    }
  }
  for (const std::string& other : {fresh, directory_ + "/../" + fs::path(directory_).filename().string() + "/fresh"}) {
    expect_usage_error(run("--log-evictions " + fresh + " --dump-logits " + other), {"same file"});
  }
  const Outcome shared = vase("run --raw --log-evictions " + fresh + " --model " + model_.path() + " hi", "", fresh);
  EXPECT_EQ(shared.code, 2) << shared.err;
  fs::remove(fresh);
  EXPECT_EQ(contents(prompt), "hi");
  EXPECT_EQ(contents(model_.path()), model_before);
  EXPECT_EQ(run("--max-tokens 1 --log-evictions /dev/null --dump-logits /dev/null").code, 0);
}

TEST_F(CliSafety, ClosedStreamsNeverBecomeFiles) {
  const std::string dump = in_directory("dump");
  const std::string arguments =
      "run --raw --temp 0 --max-tokens 3 --model " + model_.path() + " --dump-logits " + dump + " hi ";
  const std::string command = VASE_BINARY " " + arguments;
  const std::string err = in_directory("err");
  EXPECT_NE(std::system((command + ">&- 2>" + err).c_str()), 0);
  EXPECT_NE(contents(err).find("cannot write to standard output"), std::string::npos) << contents(err);
  EXPECT_FALSE(fs::exists(dump));
  EXPECT_EQ(std::system((command + "2>&- <&- >" + err).c_str()), 0);
  EXPECT_EQ(contents(err), "abc");
  EXPECT_EQ(fs::file_size(dump), 3u * 4 * test::kTinyVocabulary);
}

TEST_F(CliSafety, ThreadsComeFromTheFlagAlone) {
  for (const std::string setting : {"OMP_NUM_THREADS=junk", "OMP_NUM_THREADS=-1", "OMP_NUM_THREADS=",
                                    "OMP_NUM_THREADS=0", "OMP_NUM_THREADS=100000", "OMP_THREAD_LIMIT=1",
                                    "OMP_DYNAMIC=true", "KMP_DEVICE_THREAD_LIMIT=1"}) {
    const Outcome o = vase("run --raw --temp 0 --threads 2 --max-tokens 3 --model " + model_.path() + " hi </dev/null",
                           setting + " timeout 60 ");
    EXPECT_EQ(o.code, 0) << setting << ": " << o.err;
    EXPECT_EQ(o.out, "abc") << setting;
  }
}

TEST_F(CliSafety, EndlessPromptsAreRefused) {
  expect_usage_error(run("--file /dev/zero", ""), {"--file", "/dev/zero"});
  expect_usage_error(vase("run --raw --model " + model_.path(), "yes | "), {"standard input", "64 MiB"});
  const std::string large = in_directory("large");
  std::ofstream(large) << "x";
  fs::resize_file(large, (64u << 20) + 1);
  expect_usage_error(run("--file " + large, ""), {"--file", "64 MiB"});
}

TEST_F(CliSafety, AGoneReaderEndsTheRunAndLeavesNothing) {
  const std::string err = in_directory("err"), code = in_directory("code");
  shell("{ $VASE 2>" + err + "; echo $? >" + code + "; } | head -c 5 >/dev/null");
  EXPECT_EQ(contents(code), "1\n");
  EXPECT_EQ(contents(err).find("vase: cannot"), std::string::npos) << contents(err);
  EXPECT_EQ(files(), 2);  // err and code
}

TEST_F(CliSafety, AFileThatGrowsTooLargeIsAnError) {
  const std::string err = in_directory("err");
  EXPECT_EQ(shell("ulimit -f 8; $VASE 2>" + err + " >/dev/null"), 1);
  EXPECT_NE(contents(err).find("File too large"), std::string::npos) << contents(err);
  EXPECT_EQ(files(), 1);
}

TEST_F(CliSafety, SignalsLeaveNothingHalfMade) {
  for (const std::string name : {"INT", "TERM", "HUP"}) {
    // The first ends the text in good order; its logits are complete up to there.
    EXPECT_EQ(shell("timeout --foreground --preserve-status -s " + name + " 1 $VASE >/dev/null 2>&1"), 130) << name;
    EXPECT_EQ(files(), 1) << name;
    fs::remove(in_directory("logits"));
    // Two at once: the second ends the process at once.
    EXPECT_EQ(shell("$VASE >/dev/null 2>&1 & while ! [ -s " + directory_ + "/logits.part$! ]; do sleep 0.1; done; "
                    "kill -" + name + " $!; kill -TERM $!; wait $!"),
              130)
        << name;
    fs::remove(in_directory("logits"));
    EXPECT_EQ(files(), 0) << name;
  }
}

TEST_F(CliSafety, EmptyFileNamesAreRefused) {
  for (const std::string flag : {"--log-evictions", "--dump-logits", "--file"}) {
    expect_usage_error(run(flag + " ''"), {flag, "empty"});
  }
}

TEST_F(CliSafety, APromptMayLookLikeAFlag) {
  const Outcome o = run("--temp 0 --max-tokens 3 --", "--json");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "abc");
  expect_usage_error(run("--", "--json --raw"), {"unexpected", "--raw"});
}

TEST_F(CliSafety, AnInterruptedPromptTellsHowFarItWasRead) {
  const std::string prompt = in_directory("prompt");
  std::ofstream(prompt) << std::string(1000000, 'x');
  const Outcome o = vase("run --raw --threads 1 --model " + model_.path() + " --file " + prompt + " </dev/null",
                         "timeout --foreground --preserve-status -s INT 2 ");
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find(" of 1000000 prompt tokens read in "), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("\n0 of "), std::string::npos) << o.err;
}

}  // namespace
}  // namespace vase
