// `vase select` on the recorded evictions of the authors' code, wherever no recorded random number is needed.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arrays/array_file.h"
#include "cli_fixture.h"
#include "golden/golden_case.h"
#include "golden/golden_head.h"

namespace vase {
namespace {

using golden::Case;

// [B][n][H][d] as recorded becomes [B][H][n][d].
std::string heads_first(const golden::Tensor& t) {
  const size_t B = t.shape[0], n = t.shape[1], H = t.shape[2], d = t.shape[3];
  std::vector<float> out;
  for (size_t b = 0; b < B; ++b)
    for (size_t h = 0; h < H; ++h)
      for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < d; ++c) out.push_back(static_cast<float>(t.at(b, i, h, c)));
  return cli::npy_bytes(std::vector<size_t>{B, H, n, d}, out);
}

std::string as_is(const golden::Tensor& t) {
  const std::vector<float> out(t.data.begin(), t.data.end());
  return cli::npy_bytes(std::vector<size_t>(t.shape.begin(), t.shape.end()), out);
}

// The bridge of the golden tests gives temperatures to the kernel; here the policy's text has them.
std::string text_with_temperature(const Case& c) {
  std::string text = golden::policy_text(c);
  const size_t at = text.find("attention:");
  if (c.number("temperature") != 1 && at != std::string::npos) {
    text.insert(at + 10, "temperature=" + std::to_string(c.number("temperature")) + ",");
  }
  return text;
}

void check(const Case& c, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> arrays = {{"K", heads_first(c["K"])}, {"V", heads_first(c["V"])}};
  if (c.has("Q")) arrays.emplace_back("Q", as_is(c["Q"]));
  std::ofstream(path, std::ios::binary) << cli::npz_bytes(arrays);
  const Outcome o = vase("select --json --in " + path + " --policy '" + text_with_temperature(c) + "' --kv-budget " +
                         std::to_string(c.param("M")) + " --kv-buffer " + std::to_string(c.param("R")));
  ASSERT_EQ(o.code, 0) << o.err;
  const auto heads = nlohmann::json::parse(o.out)["heads"];
  const int B = c.param("B"), H = c.param("H");
  ASSERT_EQ(heads.size(), size_t(B) * H);
  for (int b = 0; b < B; ++b) {
    for (int h = 0; h < H; ++h) {
      std::vector<int> want = c["kept_order"].row<int>(b, h), got = heads[b * H + h]["kept"].get<std::vector<int>>();
      std::ranges::sort(want);
      got.resize(c.param("K"));
      EXPECT_EQ(got, want) << "row " << b << ", head " << h;
    }
  }
}

TEST(SelectGolden, KeepsWhatTheAuthorsCodeKept) {
  VASE_SKIP_WITHOUT_GOLDEN();
  const std::string path = test::temporary_path(".npz");
  int checked = 0;
  for (const std::string& name : golden::cases("evict/")) {
    const Case c(name);
    if (c.has("E") || c.has("U") || c.has("G")) continue;
    SCOPED_TRACE(name);
    check(c, path);
    ++checked;
  }
  std::remove(path.c_str());
  EXPECT_GT(checked, 30);
}

}  // namespace
}  // namespace vase
