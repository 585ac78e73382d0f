// The bridge to math-verify, with programs in place of an interpreter that has the package; scripts/compare-graders
// runs the real one.
#include "eval/grading/math_verify.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "eval/no_verdict.h"

namespace vase::eval {
namespace {

class MathVerifyBridge : public testing::Test {
 protected:
  MathVerifyBridge() {
    std::string name = (std::filesystem::temp_directory_path() / "vase-bridge-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~MathVerifyBridge() override { std::filesystem::remove_all(folder_); }

  // A program that is called like python3 and does what the script says.
  MathVerifyOptions program(const std::string& script) {
    const std::string path = folder_ / "python";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0700);
    return {.python = path, .start_seconds = 20, .seconds = 20};
  }

  std::string error_of(const MathVerifyOptions& options, ErrorCode code) {
    try {
      MathVerify grader(options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  std::filesystem::path folder_;
};

constexpr const char* kGreeting = "echo '{\"version\": \"9.9\"}'\n";

TEST_F(MathVerifyBridge, AsksLineByLine) {
  // Says "same" for as long as the line holds the word yes.
  MathVerify grader(program(std::string(kGreeting) + "while read -r line; do case $line in *yes*) echo '{\"same\": "
                                                     "true}';; *) echo '{\"same\": false}';; esac; done\n"));
  EXPECT_EQ(grader.version(), "9.9");
  EXPECT_TRUE(grader.same("yes", "5"));
  EXPECT_FALSE(grader.same("no\nnewline \xff", "5"));
  EXPECT_TRUE(grader.same(std::string(1 << 20, 'x') + "yes", "5"));
}

TEST_F(MathVerifyBridge, ComparesAndReadsWithOneQuestion) {
  // Reads 5 and 7, and finds nothing but 5 the same.
  MathVerify grader(program(std::string(kGreeting) +
                            "while read -r line; do echo \"$line\" >>" + (folder_ / "asked").string() +
                            "; case $line in *'\"7\"'*) echo '{\"same\": false, \"read\": true}';; "
                            "*5*5*) echo '{\"same\": true}';; *) echo '{\"same\": false, \"read\": false}';; esac; done\n"));
  const Comparison other = grader.compare("8", "7"), unread = grader.compare("8", "6"), same = grader.compare("5", "5");
  EXPECT_TRUE(!other.same && other.read);
  EXPECT_TRUE(!unread.same && !unread.read);
  EXPECT_TRUE(same.same && same.read);
  EXPECT_FALSE(grader.same("8", "6"));
  std::ifstream asked(folder_ / "asked");
  const std::string questions{std::istreambuf_iterator<char>(asked), {}};
  EXPECT_EQ(questions,
            "{\"expected\":\"7\",\"given\":\"8\",\"read\":true}\n{\"expected\":\"6\",\"given\":\"8\",\"read\":true}\n"
            "{\"expected\":\"5\",\"given\":\"5\",\"read\":true}\n{\"expected\":\"6\",\"given\":\"8\",\"read\":false}\n");
}

TEST_F(MathVerifyBridge, APairThatTakesTooLongHasNoVerdictAndTheNextHasOne) {
  MathVerifyOptions options = program(
      std::string(kGreeting) +
      "while read -r line; do case $line in *slow*) sleep 600;; *) echo '{\"same\": false}';; esac; done\n");
  options.seconds = 0.2;
  MathVerify grader(options);
  EXPECT_THROW(grader.same("slow", "5"), NoVerdict);
  EXPECT_FALSE(grader.same("quick", "5"));
}

TEST_F(MathVerifyBridge, APairThatEndsItHasNoVerdict) {
  MathVerify grader(
      program(std::string(kGreeting) +
              "read -r line; case $line in *crash*) exit 3;; esac; echo '{\"same\": true}'; read -r line\n"));
  try {
    grader.same("crash", "5");
    ADD_FAILURE();
  } catch (const NoVerdict& e) {
    EXPECT_NE(std::string(e.what()).find("'crash'"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(grader.same("5", "5"));
}

TEST_F(MathVerifyBridge, IsAskedOnceMoreBeforeAPairHasNoVerdict) {
  MathVerify grader(program(std::string(kGreeting) + "read -r line; mkdir " + (folder_ / "asked").string() +
                            " && exit 3; echo '{\"same\": true}'; read -r line\n"));
  EXPECT_TRUE(grader.same("5", "5"));
}

TEST_F(MathVerifyBridge, AnswersThatAreNoneAreNoVerdict) {
  MathVerify grader(program(std::string(kGreeting) + "while read -r line; do echo '{\"same\": 1}'; done\n"));
  EXPECT_THROW(grader.same("5", "5"), NoVerdict);
}

TEST_F(MathVerifyBridge, SaysWhatIsMissing) {
  const std::string no_python = error_of({.python = "/nowhere/python3"}, ErrorCode::kNotFound);
  EXPECT_NE(no_python.find("/nowhere/python3"), std::string::npos) << no_python;
  EXPECT_NE(no_python.find("pip install"), std::string::npos) << no_python;
  const std::string no_package = error_of(
      program("echo '{\"error\": \"ModuleNotFoundError: No module named math_verify\"}'\n"), ErrorCode::kNotFound);
  EXPECT_NE(no_package.find("No module named"), std::string::npos) << no_package;
  EXPECT_NE(no_package.find("pip install"), std::string::npos) << no_package;
  error_of(program("exit 1\n"), ErrorCode::kNotFound);
  error_of(program("echo hello\n"), ErrorCode::kNotFound);
  MathVerifyOptions slow = program("sleep 600\n");
  slow.start_seconds = 0.2;
  EXPECT_NE(error_of(slow, ErrorCode::kResource).find("did not load"), std::string::npos);
}

TEST_F(MathVerifyBridge, TheProgramSaysWhenThePackageIsMissing) {
  // -S and an empty path leave nothing but the standard library.
  MathVerifyOptions options = program("exec env -u PYTHONPATH python3 -S \"$@\"\n");
  if (std::system("command -v python3 >/dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const std::string message = error_of(options, ErrorCode::kNotFound);
  EXPECT_NE(message.find("ModuleNotFoundError"), std::string::npos) << message;
}

}  // namespace
}  // namespace vase::eval
