// JSON that nobody vouches for.
#include "eval/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace vase::eval {
namespace {

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonText, WhatIsJson) {
  EXPECT_EQ(parse_json(R"({"a": [1, "x"]})"), nlohmann::json({{"a", {1, "x"}}}));
  EXPECT_FALSE(parse_json(nested(100)).is_discarded());
}

TEST(JsonText, WhatIsNone) {
  for (const char* text : {"", "{", "[1,]", "{\"a\": 1} 2", "\"\xff\"", "nan", "1e999"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(JsonText, WhatIsNestedTooDeepForTheStack) {
  EXPECT_TRUE(parse_json(nested(101)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1000000)).is_discarded());
  std::string objects;
  for (int i = 0; i < 101; ++i) objects += "{\"a\":";
  EXPECT_TRUE(parse_json(objects + "1" + std::string(101, '}')).is_discarded());
}

TEST(JsonText, BracketsOfTextsAndOfNeighboursDoNotCount) {
  EXPECT_FALSE(parse_json("[\"" + std::string(500, '[') + "\", \"\\\"" + std::string(500, '{') + "\"]")
                   .is_discarded());
  std::string many = "[[]";
  for (int i = 0; i < 500; ++i) many += ",[]";
  EXPECT_EQ(parse_json(many + "]").size(), 501u);
}

}  // namespace
}  // namespace vase::eval
