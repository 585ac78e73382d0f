// What every preset keeps of one small head, worked out by hand; and docs/policies.md against presets and parts.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "policies/small_head.h"

namespace vase {
namespace {

using Kept = std::vector<uint32_t>;

// A number of each kind for each candidate; the sketch takes the first channel alone.
class HandDraws final : public RandomDraws {
 public:
  void uniform(std::span<const int32_t>, std::span<float> out) override {
    static constexpr float kUniform[] = {.9f, .1f, .8f, .2f, .7f, .3f, .6f, .05f, .5f, .15f, .4f, .25f};
    std::copy_n(kUniform, out.size(), out.begin());
  }
  void exponential(std::span<const int32_t>, std::span<float> out) override {
    static constexpr float kExponential[] = {.6f, 3, 3.6f, .15f, 5, 1.3f, 7.8f, 13, .6f, 36, 3, 8};
    std::copy_n(kExponential, out.size(), out.begin());
  }
  void gaussian(bool, std::span<float> out) override {
    std::fill(out.begin(), out.end(), 0.0f);
    out[0] = 1;
  }
};

// 12 candidates, the first 3 of them the prompt; M = 24, R = 16, so K = 8 stay; 16 rows of probabilities. A quarter of
// M is 6.
//
// Attention, smoothed, times 16:  2, 1.5, 1.2, 1, 1, 13, 13, 13, 12, 24, 15, 20.
// Keys are along the first channel: 1, but -1 for 2, 3 and 4, and 2 for 7; those of the buffer are 0.
// Every query is sqrt 2 ln 4, so a key's weight is 4, but 1/4 for 2, 3 and 4, and 16 for 7; the buffer's are 1.
// Key times value in the first channel, squared, from candidate 4 on: 25, 1, 16, 4, 0, 9, 2.25, 0.25; exact norms: 36
// for 8. Exponential / attention, times 1/16: .3, 2, 3, .15, 5, .1, .6, 1, .05, 1.5, .2, .4.
class PresetHead {
 public:
  PresetHead() : head_(12, 16, 8, 1, 2, 8) {
    head_.attention = {6, 0, 0, 0, 0, 5, 0, 60, 0, 0, 0, 60};
    const float keys[] = {1, 1, -1, -1, -1, 1, 1, 2, 1, 1, 1, 1};
    const float values[] = {0, 0, 0, 0, 5, 1, 4, 1, 0, 3, 1.5f, .5f};
    for (int j = 0; j < 12; ++j) {
      head_.set(head_.keys, j, {keys[j], 0});
      head_.set(head_.values, j, {values[j], j == 8 ? 6.0f : 0.0f});
    }
    for (int w = 0; w < 8; ++w) head_.set_query(w, 0, {std::sqrt(2.0f) * std::log(4.0f), 0});
  }
  HeadView view() const {
    HeadView view = head_.view();
    view.prompt_tokens = 3;
    view.value_range = ranges_;
    view.norm_product = products_;
    return view;
  }

 private:
  SmallHead head_;
  std::vector<float> ranges_ = {.5f, .4f, .3f, .2f, 7, 1, 9, 2, 3, 4, 5, 6};
  std::vector<float> products_ = {0, 0, 0, 0, 5, 1, 4, 2, 6, 3, 1.5f, .5f};  // of the rows above
};

const std::map<std::string, Kept>& kept_by_hand() {
  static const std::map<std::string, Kept> kKept = {
      {"vase", {0, 1, 2, 3, 4, 6, 8, 9}},  // half of M is more than K: the sinks, and the largest products
      // Sinks, 6 and 4; unsmoothed 5, 60, 0, 0, 0, 60 and a floor of 2.1: times .18, .21, .29, 17, 1.4, .13.
      {"vase-values", {0, 1, 2, 3, 4, 5, 6, 11}},
      // Sinks, 2 value slots (6 and 4), and the first two of the race among 5, 7, 8 ... 11: 8 and 5.
      {"vase-attnv", {0, 1, 2, 3, 4, 5, 6, 8}},
      // The floor of 1.6 / 16 changes the times to .089, .89, .044, 1.4, .18, .37.
      {"vase-attnv-weighted", {0, 1, 2, 3, 4, 5, 6, 8}},
      {"vase-dkv", {0, 1, 2, 3, 4, 6, 7, 9}},
      {"curdkv", {0, 1, 2, 3, 4, 6, 7, 9}},
      {"curdkv-kvpress", {0, 1, 2, 3, 4, 6, 8, 9}},
      // Sinks, 6 and 4; weights 1.275, 4.275, .275, 9.275, 2.525, .525: times 1.02, 3.0, 2.2, 3.9, 1.19, 15.
      {"vase-dkv-weighted", {0, 1, 2, 3, 4, 5, 6, 10}},
      {"snapkv", {0, 5, 6, 7, 8, 9, 10, 11}},
      {"snapkv-prompt", {0, 5, 6, 7, 8, 9, 10, 11}},
      // Key 7 lifts 4 to 10; of the others 0, 1, 2, 3, 11, which tie, the oldest.
      {"snapkv-decode", {0, 4, 5, 6, 7, 8, 9, 10}},
      {"tova", {0, 1, 5, 6, 7, 8, 9, 10}},  // the keys of 2, then of 1
      {"h2o", {0, 1, 2, 3, 4, 5, 7, 11}},   // half of M lies in the buffer
      // r = 5/12, or -7/12 for 2, 3 and 4; rho = .099 and .036. So 2 has .075 - .036, 0 only .125 - .099.
      {"r-kv", {2, 5, 6, 7, 8, 9, 10, 11}},
      // 28 r: 5; 11 is the newest copy of 8 keys, 5 - 8; 10 of one, 5 - 1; 2, 3, 4 have -7, -8, -9. 0.9 rho = .0375,
      // .0282,
      // .0362, .0244, .0236, .0228. 0.1 of attention is .0282 for 4 to 10, .0070 for the others. 3 has -.0165, 2
      // -.0174.
      {"r-kv-original", {3, 4, 5, 6, 7, 8, 9, 10}},
      {"streaming", {0, 1, 2, 3, 8, 9, 10, 11}},
      {"keydiff", {0, 1, 2, 3, 4, 5, 6, 7}},  // 2, 3, 4 point away from the sum; the others tie
      {"lagkv", {0, 1, 2, 3, 8, 9, 10, 11}},  // less than two blocks
      {"value-slots", {4, 5, 6, 7, 8, 9, 10, 11}},
      {"attn-sample", {0, 3, 5, 6, 7, 8, 10, 11}},
      {"attnv-no-sinks", {3, 4, 5, 6, 8, 9, 10, 11}},  // value slots 4, 6, 8 ... 11; 5 and 3 are drawn
      {"attn-random", {0, 2, 4, 6, 8, 9, 10, 11}},     // 0, 2, 4, 6, 8, 10; then 9 and 11 by attention
      {"attn-value", {4, 5, 6, 7, 8, 9, 10, 11}},      // products 1, .6, .36, .2, 7, 13, 117, 26, 36, 96, 75, 120
      {"evict-large", {0, 1, 2, 3, 5, 7, 8, 9}},
      {"evict-large-random", {0, 1, 2, 3, 4, 5, 6, 7}},  // 4, 6, 8 ... 11 are shunned; the best of them are 4 and 6
      {"random", {0, 2, 4, 5, 6, 8, 10, 11}},
      {"random-unified", {0, 2, 4, 5, 6, 8, 10, 11}},
      {"random-prompt", {0, 1, 2, 4, 5, 6, 8, 10}},
      {"random-prompt-recent", {0, 1, 2, 4, 5, 6, 8, 10}},                       // a quarter of M lies in the buffer
      {"random-prompt-recent protect+=recent:75%", {0, 1, 2, 4, 6, 8, 10, 11}},  // 18 tokens: 10 and 11 beyond it
      {"random-sinks", {0, 1, 2, 3, 4, 6, 8, 10}},
      {"random-block", {0, 1, 2, 3, 4, 5, 6, 7}},    // one block: a tie
      {"random-strata", {0, 2, 3, 4, 6, 8, 9, 10}},  // {0} {1 2} {3} {4 5} {6} {7 8} {9} {10 11}
      {"random-cluster", {0, 1, 2, 3, 4, 5, 6, 7}},  // around 0, moved inwards
      {"recency", {4, 5, 6, 7, 8, 9, 10, 11}},
      {"recency-prompt", {0, 1, 2, 7, 8, 9, 10, 11}},
  };
  return kKept;
}

TEST(Presets, KeepWhatWasWorkedOutByHand) {
  const PresetHead head;
  for (const auto& [text, want] : kept_by_hand()) {
    HandDraws draws;
    PolicyScratch scratch;
    Kept kept(8);
    Policy::parse(text).plan(head.view(), draws, scratch, kept);
    EXPECT_EQ(kept, want) << text;
  }
}

// Those that are not in the table above have heads of their own, in the tests of their scores.
TEST(Presets, EachHasASetWorkedOutByHand) {
  const std::set<std::string> elsewhere = {"caote", "expected-attention", "knorm", "lazy-eviction"};
  for (const PolicyInfo& preset : Policy::presets()) {
    if (!Policy::parse(preset.name).evicts()) continue;
    EXPECT_TRUE(kept_by_hand().contains(preset.name) != elsewhere.contains(preset.name)) << preset.name;
  }
}

// Lines of docs/policies.md from the heading "### <number> " to the next heading.
std::string section(const std::string& number) {
  std::ifstream file(VASE_SOURCE_DIR "/docs/policies.md");
  EXPECT_TRUE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("\n### " + number + " ");
  EXPECT_NE(begin, std::string::npos) << number;
  return begin == std::string::npos ? "" : all.substr(begin, all.find("\n### ", begin + 1) - begin);
}

TEST(Page, ListsEveryPresetWithItsText) {
  const std::string table = section("1.1");
  for (const PolicyInfo& preset : Policy::presets()) {
    const std::string stands_for = preset.name == "full" ? "never evicts" : "`" + preset.text + "`";
    EXPECT_NE(table.find("\n| `" + preset.name + "` | " + stands_for + " | "), std::string::npos) << preset.name;
  }
}

// Rows of a part in the table of parts, which are its own and those without a name that follow.
std::string rows_of_part(const std::string& table, const PartInfo& part) {
  const std::string name = "\n| `" + std::string(part.kind) + "=" + std::string(part.name);
  const size_t at = std::min(table.find(name + "`"), table.find(name + ":"));
  if (at == std::string::npos) return "";
  size_t end = at;
  do {
    end = table.find('\n', end + 1);
  } while (table.compare(end, 4, "\n| |") == 0 || table.compare(end, name.size(), name) == 0);
  return table.substr(at, end - at);
}

TEST(Page, ListsEveryPartWithItsParametersAndDefaults) {
  const std::string table = section("1.2");
  for (const PartInfo& part : Policy::parts()) {
    const std::string rows = rows_of_part(table, part);
    EXPECT_NE(rows, "") << part.name;
    if (part.name == "caote" || part.name == "prompt") continue;  // "those of attention"; three forms
    for (const PartInfo::Parameter& parameter : part.parameters) {
      const size_t at = parameter.name.empty() ? 1 : rows.find("| `" + std::string(parameter.name) + "`");
      ASSERT_NE(at, std::string::npos) << part.name << " " << parameter.name;
      const std::string row = rows.substr(at, rows.find('\n', at) - at), fallback(parameter.fallback);
      const bool told = row.find("| " + fallback + " |") != std::string::npos ||
                        row.find("| `" + fallback + "` |") != std::string::npos;
      EXPECT_TRUE(told || fallback.empty()) << part.name << " " << parameter.name << " = " << fallback;
    }
  }
}

}  // namespace
}  // namespace vase
