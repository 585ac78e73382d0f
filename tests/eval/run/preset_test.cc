// Preset files: what is written is what is read, and everything else is refused with what to do.
#include "eval/run/preset.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "eval/run/cache_json.h"
#include "run_helpers.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

Preset example() {
  return {.model = "0123456789abcdef",
          .model_name = "Tiny",
          .build = "0.1.0 (abc)",
          .name = "vase-attnv",
          .policy = Policy::parse("vase-attnv").text(),
          .cache = {.budget = 230,
                    .buffer = 16,
                    .period = 8,
                    .key_type = RowType::kQ8_0,
                    .value_type = RowType::kQ4_0,
                    .prefill = Prefill::kDense,
                    .stagger = false},
          .measured = {.kl = 0.0123,
                       .kl_error = 0.001,
                       .noise_floor = 0.003,
                       .texts = 5,
                       .seeds = 2,
                       .positions = 4000,
                       .budget_mib = 7.5,
                       .bytes = 7864000,
                       .threads = 4}};
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

class Presets : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "own.json";

  Preset read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return read_preset(path_);
  }

  // Refused with the file's name, the words, and what to do.
  void refuses(const std::string& content, ErrorCode code, const std::vector<std::string>& words) const {
    try {
      read(content);
      ADD_FAILURE() << "accepted: " << content;
    } catch (const Error& e) {
      const std::string message = e.what();
      EXPECT_EQ(e.code(), code) << message;
      EXPECT_NE(message.find(path_), std::string::npos) << message;
      EXPECT_NE(message.find("--preset-out"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      for (const std::string& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
    }
  }

  void refuses_changed(const std::function<void(json&)>& change, const std::vector<std::string>& words,
                       ErrorCode code = ErrorCode::kCorrupt) const {
    json object = json::parse(preset_text(example()));
    change(object);
    refuses(object.dump(), code, words);
  }
};

TEST_F(Presets, WhatIsWrittenIsRead) {
  Preset written = example();
  for (int other = 0; other < 2; ++other) {
    const Preset got = read(preset_text(written));
    EXPECT_EQ(preset_text(got), preset_text(written));
    EXPECT_EQ(got.model, written.model);
    EXPECT_EQ(got.name, written.name);
    EXPECT_EQ(got.policy, written.policy);
    EXPECT_EQ(got.cache.budget, written.cache.budget);
    EXPECT_EQ(cache_json(got.cache), cache_json(written.cache));
    EXPECT_EQ(got.measured.kl, written.measured.kl);
    EXPECT_EQ(got.measured.kl_error, written.measured.kl_error);
    EXPECT_EQ(got.measured.positions, 4000);
    EXPECT_EQ(got.measured.bytes, 7864000u);
    // The other end of every choice.
    written.cache = {.budget = 512,
                     .buffer = 32,
                     .key_type = RowType::kF16,
                     .value_type = RowType::kBF16,
                     .positions = Positions::kCache,
                     .layer_budgets = LayerBudgets::kPyramid,
                     .pyramid_beta = 2.5f};
    written.cache.trigger = Trigger::kParity;
    written.name = "streaming";
    written.policy = Policy::parse("streaming").text();
    written.measured.kl_error.reset();
  }
}

// Every setting that a reader could lose shows in the text.
TEST_F(Presets, EverySettingIsWritten) {
  const std::vector<std::function<void(CacheOptions&)>> changes = {
      [](CacheOptions& c) { c.budget = 231; },
      [](CacheOptions& c) { c.buffer = 17; },
      [](CacheOptions& c) { c.period = 9; },
      [](CacheOptions& c) { c.key_type = RowType::kF32; },
      [](CacheOptions& c) { c.value_type = RowType::kF32; },
      [](CacheOptions& c) { c.prefill = Prefill::kEvicting; },
      [](CacheOptions& c) { c.trigger = Trigger::kParity; },
      [](CacheOptions& c) { c.positions = Positions::kCache; },
      [](CacheOptions& c) { c.layer_budgets = LayerBudgets::kPyramid; },
      [](CacheOptions& c) { c.stagger = true; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Preset changed = example();
    changes[i](changed.cache);
    EXPECT_NE(preset_text(changed), preset_text(example())) << i;
    EXPECT_EQ(preset_text(read(preset_text(changed))), preset_text(changed)) << i;
  }
}

TEST_F(Presets, EveryTornFileIsRefused) {
  const std::string whole = preset_text(example());
  for (size_t bytes = 0; bytes + 2 < whole.size(); ++bytes)
    refuses(whole.substr(0, bytes), ErrorCode::kCorrupt, {"torn"});
}

TEST_F(Presets, WhatIsNoPresetIsRefused) {
  for (const char* content : {"[]", "null", "7", "{}", R"({"format": "other"})", R"({"format": 5})"})
    refuses(content, ErrorCode::kCorrupt, {"not a preset file"});
  refuses(std::string(2 << 20, ' ') + preset_text(example()), ErrorCode::kCorrupt, {"more than the 1048576 bytes"});
  EXPECT_THROW(read_preset(folder_ / "missing.json"), Error);
  EXPECT_THROW(read_preset(folder_ / "."), Error);
}

TEST_F(Presets, AnotherVersionIsNamed) {
  for (const int version : {1, 3}) {
    refuses_changed([&](json& j) { j["version"] = version; },
                    {"version " + std::to_string(version), "reads version 2"}, ErrorCode::kUnsupported);
  }
  refuses_changed([](json& j) { j["version"] = "2"; }, {"version"});
  refuses_changed([](json& j) { j.erase("version"); }, {"'version' is missing"});
}

TEST_F(Presets, FieldsAreAllThereAndNoMore) {
  const json whole = json::parse(preset_text(example()));
  for (const std::string part : {"", "cache", "measured"}) {
    const json& fields = part.empty() ? whole : whole[part];
    for (const auto& [name, value] : fields.items()) {
      if (name == "format") continue;
      const std::string field = name;
      const auto object = [part](json& j) -> json& { return part.empty() ? j : j[part]; };
      refuses_changed([&](json& j) { object(j).erase(field); }, {"'" + field + "' is missing"});
      refuses_changed([&](json& j) { object(j)[field] = json::array({1}); },
                      {"'" + field + "' is [1]", "allowed"});
    }
    refuses_changed([&](json& j) { (part.empty() ? j : j[part])["colour"] = 1; }, {"unknown field 'colour'"});
  }
}

// Whole characters of what is long, so that the message is a text.
TEST_F(Presets, MessagesShowTheBeginningOfWhatIsLong) {
  const std::string umlauts = "x" + repeated("\u00e4", 50), shown = "x" + repeated("\u00e4", 29);
  refuses_changed([&](json& j) { j[umlauts] = 1; }, {"unknown field '" + shown + "...'"});
  refuses_changed([&](json& j) { j["model_name"] = json::array({umlauts}); },
                  {"'model_name' is [\"x" + repeated("\u00e4", 28) + "...; allowed"});
}

TEST_F(Presets, ValuesOutOfRangeAreNamed) {
  refuses_changed([](json& j) { j["cache"]["budget"] = 0; }, {"cache", "'budget' is 0", "from 1"});
  refuses_changed([](json& j) { j["cache"]["budget"] = 1.5; }, {"'budget' is 1.5"});
  refuses_changed([](json& j) { j["cache"]["budget"] = 18446744073709551615u; }, {"'budget'"});
  refuses_changed([](json& j) { j["cache"]["key_type"] = "q5_0"; },
                  {"'key_type' is \"q5_0\"", "f16", "q4_0"});
  refuses_changed([](json& j) { j["cache"]["key_type"] = "auto"; }, {"'key_type'"});
  refuses_changed([](json& j) { j["cache"]["layers"] = "pyramid"; }, {"'pyramid_beta' is null", "numbers"});
  refuses_changed([](json& j) { j["cache"]["pyramid_beta"] = 5; },
                  {"'pyramid_beta' is 5", "allowed: null", "'layers' is uniform"});
  refuses_changed([](json& j) { j["measured"]["kl_mean"] = -1; }, {"measured", "'kl_mean' is -1"});
  refuses_changed([](json& j) { j["policy"] = "vase-atnv"; }, {"vase-atnv", "vase-attnv"}, ErrorCode::kUsage);
  refuses_changed([](json& j) { j["policy"] = "full"; }, {"keeps every token"});
  refuses_changed([](json& j) { j["cache"]["budget"] = 10; }, {"smallest budget"}, ErrorCode::kUsage);
}

TEST_F(Presets, SettingsThatDoNotGoTogetherAreRefusedWithTheFile) {
  const ModelShape shape{.layers = 4, .query_heads = 4, .kv_heads = 2, .head_dim = 64};
  require_works(example(), shape, path_);
  const std::vector<std::function<void(CacheOptions&)>> changes = {
      [](CacheOptions& c) { c.trigger = Trigger::kParity; },  // 230 slots, and a buffer of 16
      [](CacheOptions& c) { c.positions = Positions::kCache; },  // and q8_0
      [](CacheOptions& c) { c.layer_budgets = LayerBudgets::kPyramid; },  // and a dense prefill
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Preset changed = example();
    changes[i](changed.cache);
    try {
      require_works(changed, shape, path_);
      ADD_FAILURE() << i;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      for (const std::string& word : {path_, std::string("vase tune")})
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
}

TEST_F(Presets, NamesThatATableWouldMisreadAreRefused) {
  for (const std::string name : {"", "a\x1b[31mb", "a\nb", "a\xc2\x9b" "b", "a\x7f"})
    refuses_changed([&](json& j) { j["name"] = name; }, {"'name' is", "allowed"});
  for (const std::string name : {"full", "vase", "snapkv"})
    refuses_changed([&](json& j) { j["name"] = name; }, {"'name' is '" + name + "'", "not the one of that name"});
  for (const std::string name : {"mine", "vase-attnv protect+=value:50%", "vase-attnv"}) {
    json object = json::parse(preset_text(example()));
    object["name"] = name;
    EXPECT_EQ(read(object.dump()).name, name);
  }
}

TEST_F(Presets, AnotherModelIsNamed) {
  const Preset preset = example();
  require_model(preset, {.name = "Other name", .fingerprint = "0123456789abcdef"}, path_);
  try {
    require_model(preset, {.name = "Big", .fingerprint = "fedcba9876543210"}, path_);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    for (const std::string& word :
         {path_, std::string("'Tiny'"), std::string("0123456789abcdef"), std::string("fedcba9876543210"),
          std::string("'Big'"), std::string("vase tune")})
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace vase::eval
