// Real problems, where they are at hand.
#include <gtest/gtest.h>

#include <filesystem>

#include "data_file.h"

namespace vase::eval {
namespace {

TEST(SharedData, EveryFileIsRead) {
  const std::string folder = VASE_DATA_DIR;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no problem sets in " << folder;
  const struct {
    const char *task, *file;
    size_t problems;
  } cases[] = {{"gsm8k", "gsm8k", 1000}, {"math-500", "math500", 400}, {"aime24", "aime24", 30},
               {"aime25", "aime25", 30}, {"aime26", "aime26", 30},     {"hmmt", "hmmt", 60}};
  for (const auto& c : cases) {
    const std::string path = folder + "/" + c.file + ".jsonl";
    EXPECT_EQ(read_task(c.task, path).problems.size(), c.problems) << c.file;
    EXPECT_EQ(open_task("jsonl=" + path, 1, 0).problems.size(), c.problems) << c.file;
  }
}

}  // namespace
}  // namespace vase::eval
