// Reading texts and recorded generations.
#include "eval/texts.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

class Texts : public testing::Test {
 protected:
  test::TinyModel file_;
  std::shared_ptr<const Model> model_ = Model::load(file_.path());

  std::vector<Text> read(const std::string& content, const std::string& suffix, int tokens = 100, int texts = 0) {
    const std::string path = test::temporary_path(suffix);
    std::ofstream(path) << content;
    try {
      auto all = read_texts(*model_, path, tokens, texts);
      std::remove(path.c_str());
      return all;
    } catch (...) {
      std::remove(path.c_str());
      throw;
    }
  }
};

TEST_F(Texts, APlainFileIsOneTextWithoutPrompt) {
  const auto texts = read("abcdef", ".txt", 4);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].tokens, (std::vector<int32_t>{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(texts[0].prompt_tokens, 0);
}

TEST_F(Texts, RecordsHoldPromptsAndTokens) {
  const auto texts = read(R"({"id": "x", "prompt_ids": [1, 2, 3], "tokens": [4, 5, 6]}

{"id": 7, "text": "hello"}
{"prompt": "hi", "text": "yo"}
)", ".jsonl", 2);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].name, "x");
  EXPECT_EQ(texts[0].tokens, (std::vector<int32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(texts[0].prompt_tokens, 3);
  EXPECT_EQ(texts[1].name, "7");
  EXPECT_EQ(texts[1].tokens, (std::vector<int32_t>{'h', 'e'}));
  const ChatMessage message{"user", "hi"};
  std::vector<int32_t> prompt = model_->tokenize_chat({&message, 1});
  EXPECT_EQ(texts[2].prompt_tokens, static_cast<int>(prompt.size()));
  prompt.insert(prompt.end(), {'y', 'o'});
  EXPECT_EQ(texts[2].tokens, prompt);
}

TEST_F(Texts, OneObjectOverManyLinesIsOneRecord) {
  EXPECT_EQ(read("{\n \"tokens\": [1,\n 2]\n}\n", ".json")[0].tokens, (std::vector<int32_t>{1, 2}));
}

TEST_F(Texts, AtMostSoManyTexts) {
  EXPECT_EQ(read("{\"tokens\":[1,2]}\n{\"tokens\":[1,2]}\nnot json\n", ".jsonl", 100, 2).size(), 2u);
}

TEST_F(Texts, DamagedRecordsAreNamedWithTheirLine) {
  for (const auto& [content, word] : std::vector<std::pair<std::string, std::string>>{
           {"{\"tokens\":[1,2]}\n{\"tokens\":", ":2: not valid JSON"},
           {"{\"id\":" + std::string(200000, '[') + std::string(200000, ']') + ",\"tokens\":[1,2]}\n",
            ":1: not valid JSON"},
           {"[1, 2]\n", "write one object per line"},
           {"1\n", "not a JSON object"},
           {"{\"id\": 3}\n", "needs \"tokens\""},
           {"{\"tokens\": [1, 999999]}\n", "999999"},
           {"{\"tokens\": [1, -1]}\n", "-1"},
           {"{\"tokens\": [1, 2.5]}\n", "2.5"},
           {"{\"tokens\": 3}\n", "list of token ids"},
           {"{\"tokens\": [1]}\n", "fewer than two"},
           {"{\"text\": 5}\n", "must be a text"},
           {"\n\n", "holds no texts"}}) {
    try {
      read(content, ".jsonl");
      ADD_FAILURE() << content;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(read_texts(*model_, "/nowhere/at.all", 10, 0), Error);
  try {
    read("\xff\xfe", ".txt");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(".txt: the text is not valid UTF-8"), std::string::npos) << e.what();
  }
}

TEST(TextNames, AreMadeToDiffer) {
  std::vector<Text> texts = {{"a", {}, 0}, {"a", {}, 0}, {"b", {}, 0}, {"a (2)", {}, 0}, {"a", {}, 0}};
  make_names_differ(texts);
  std::vector<std::string> names;
  for (const Text& text : texts) names.push_back(text.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a (2)", "b", "a (2) (2)", "a (3)"}));
}

}  // namespace
}  // namespace vase::eval
