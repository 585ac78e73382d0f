#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "end_to_end/energy_meter.h"
#include "end_to_end/model_bytes.h"
#include "end_to_end/peak_memory.h"
#include "end_to_end/row.h"
#include "support/tiny_gguf.h"

namespace vase::bench {
namespace {

namespace fs = std::filesystem;

// Two repeats of four steps; the third and the seventh evict.
Row two_repeats() {
  Row row{.what = {.test = {false, 4}}};
  row.step_s = {1, 1, 2, 1, 2, 2, 8, 2};
  row.step_evicts = {0, 0, 1, 0, 0, 0, 1, 0};
  return row;
}

TEST(Row, WorstOverMedianIsTakenPerRepeat) {
  EXPECT_EQ(worst_over_median(two_repeats()), 3);  // of 2 and 4
}

TEST(Row, EvictingStepsAreComparedWithTheOthers) {
  Row row = two_repeats();
  EXPECT_NEAR(*evicting_over_other(row), 5 / 1.5, 1e-12);
  row.step_evicts.assign(8, 0);
  EXPECT_FALSE(evicting_over_other(row));
}

TEST(Row, KeptFractionIsBudgetOverTokensSeen) {
  Row row;
  row.memory.budget = 1024;
  row.seen = 4096;
  EXPECT_EQ(row.kept_fraction(), 0.25);
  row.seen = 100;
  EXPECT_EQ(row.kept_fraction(), 1);
}

class Energy : public testing::Test {
 protected:
  ~Energy() override { fs::remove_all(root_); }
  void write(const std::string& zone, const std::string& name, uint64_t microjoules,
             uint64_t range = 1000000) {
    fs::create_directories(root_ + "/" + zone);
    std::ofstream(root_ + "/" + zone + "/name") << name << "\n";
    std::ofstream(root_ + "/" + zone + "/energy_uj") << microjoules << "\n";
    std::ofstream(root_ + "/" + zone + "/max_energy_range_uj") << range << "\n";
  }
  std::string root_ = test::temporary_path("-powercap");
};

TEST_F(Energy, IsSummedOverPackagesAndMayWrap) {
  write("intel-rapl:0", "package-0", 100000);
  write("intel-rapl:1", "package-1", 900000);
  write("intel-rapl:0:0", "core", 5);
  EnergyMeter meter(root_);
  meter.start();
  write("intel-rapl:0", "package-0", 350000);
  write("intel-rapl:1", "package-1", 150000);  // past a million
  write("intel-rapl:0:0", "core", 500000);
  ASSERT_TRUE(meter.joules());
  EXPECT_NEAR(*meter.joules(), 0.25 + 0.25, 1e-9);
}

TEST_F(Energy, IsAbsentWhereNoCounterIs) {
  EnergyMeter nowhere(root_);
  nowhere.start();
  EXPECT_FALSE(nowhere.joules());
  write("dtpm", "other", 1);
  EXPECT_FALSE(EnergyMeter(root_).joules());
}

TEST(PeakMemory, RisesWithWhatIsTouched) {
  reset_peak_memory();
  const uint64_t before = peak_memory();
  ASSERT_GT(before, 0u);
  const std::vector<char> block(64 << 20, 1);
  EXPECT_GE(peak_memory(), before + (32 << 20)) << block[0];
}

TEST(ModelBytes, CountTheEmbeddingsOnlyWhereTheyAreRead) {
  const test::TinyModel apart, tied({.tied = true});
  const uint64_t embeddings = uint64_t(test::kTinyVocabulary) * 4 * 64 * sizeof(float);
  const auto own = model::WeightLayout::kOwn;
  const ModelBytes a = model_bytes(apart.path(), own), t = model_bytes(tied.path(), own);
  EXPECT_EQ(a.resident, t.resident);  // two copies either way
  EXPECT_EQ(a.step, t.step);          // the head is read
  EXPECT_EQ(a.resident - a.step, embeddings);
  EXPECT_LT(a.resident, fs::file_size(apart.path()));
}

TEST(ModelBytes, AreThoseOfTheLayout) {
  const test::TinyModel model({.embedding = 256, .feed_forward = 256, .type = GGML_TYPE_Q4_K});
  const ModelBytes own = model_bytes(model.path(), model::WeightLayout::kOwn);
  const ModelBytes ggml = model_bytes(model.path(), model::WeightLayout::kGgml);
  EXPECT_GT(own.step, ggml.step);  // 148 bytes per 256 weights instead of 144
  EXPECT_LT(own.step, ggml.step * 1.05);  // whole strips as well
}

}  // namespace
}  // namespace vase::bench
