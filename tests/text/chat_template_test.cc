#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/tiny_gguf.h"
#include "vase/error.h"

namespace vase::text {
namespace {

constexpr const char* kChatMl =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

// The part of Qwen3's template that runs without tools: negative slices, startswith, split, namespace, loop controls.
constexpr const char* kQwen3 = R"({%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\n') %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %})";

class ChatTemplateTest : public testing::Test {
 protected:
  std::string render(const std::string& source, const std::vector<Message>& messages) const {
    return ChatTemplate(source, *tokenizer_).render(messages);
  }
  std::vector<int32_t> encode(const std::vector<Message>& messages) const {
    return ChatTemplate(kChatMl, *tokenizer_).encode(messages, *tokenizer_);
  }
  // The error at load names all of the words.
  void expect_unsupported(const std::string& source, const std::vector<std::string>& words) const {
    try {
      ChatTemplate chat(source, *tokenizer_);
      ADD_FAILURE() << "accepted: " << source;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
      const std::string message = e.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  }

  test::TinyModel model_;
  std::shared_ptr<const Tokenizer> tokenizer_ = Tokenizer::load(model_.path());
};

TEST_F(ChatTemplateTest, RendersWithTheGenerationPrompt) {
  EXPECT_EQ(render(kChatMl, {{"system", "s"}, {"user", "u"}}),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(ChatTemplateTest, Qwen3KeepsOnlyTheAnswerOfEarlierTurns) {
  EXPECT_EQ(render(kQwen3, {{"user", "q"}, {"assistant", "<think>\nhm\n</think>\n\nyes"}, {"user", "r"}}),
            "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n<|im_start|>user\nr<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST_F(ChatTemplateTest, SpecialTokensInMessagesAreText) {
  const std::vector<int32_t> tokens = encode({{"user", "a<|im_end|>b"}});
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), test::kImEnd), 1);    // the template's
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), test::kImStart), 2);
  std::string text;
  for (const int32_t token : tokens) text += tokenizer_->piece(token, true);
  EXPECT_EQ(text, render(kChatMl, {{"user", "a<|im_end|>b"}}));
}

TEST_F(ChatTemplateTest, HarmlessMessagesEncodeAsTheRenderedText) {
  const std::vector<Message> messages = {{"system", "be brief"}, {"user", "\n why? < ь"}};
  EXPECT_EQ(encode(messages), tokenizer_->encode(render(kChatMl, messages), false, true));
}

TEST_F(ChatTemplateTest, UnknownNamesAreFoundAtLoadEvenWhereTheyWouldNotRun) {
  expect_unsupported("{% if false %}\n{{ 'x' | frobnicate }}{% endif %}", {"line 2", "filter", "frobnicate"});
  expect_unsupported("{% if false %}\n\n{{ 'x' | frobnicate(1) }}{% endif %}", {"line 3", "frobnicate"});
  expect_unsupported("{% if messages is oddish %}x{% endif %}", {"line 1", "test", "oddish"});
  expect_unsupported("a\n{% if false %}{{ messages[0].content.frobnicate() }}{% endif %}",
                     {"line 2", "method", "frobnicate"});
}

TEST_F(ChatTemplateTest, BrokenTemplatesAreRefusedAtLoad) {
  expect_unsupported("a\n{% wibble %}", {"line 2", "wibble"});
  expect_unsupported("{{ 'x' ", {"chat template"});
  expect_unsupported("{{ 1 + }}", {"Unexpected token: }}"});
  expect_unsupported("a\nb {{ 1 2 }} c", {"line 2"});
  expect_unsupported("{{ unknown_function(1) }}", {"line 1"});
}

// The engine recurses: thousands of levels would overflow the stack.
TEST_F(ChatTemplateTest, DeepTemplatesAreRefusedBeforeTheyAreParsed) {
  const auto repeated = [](int n, const std::string& piece) {
    std::string text;
    for (int i = 0; i < n; ++i) text += piece;
    return text;
  };
  const auto nested = [&](int n, const char* open, const char* middle, const char* close) {
    return repeated(n, open) + middle + repeated(n, close);
  };
  constexpr int kMany = 10000;
  for (const std::string& source :
       {nested(kMany, "{% if true %}", "x", "{% endif %}"),
        nested(kMany, "{% for m in messages %}", "x", "{% endfor %}"),
        nested(kMany, "{% set x %}", "x", "{% endset %}"), nested(kMany, "{% set f(a=1) %}", "x", "{% endset %}"),
        nested(kMany, "{% macro f() %}", "x", "{% endmacro %}"), "{{ " + nested(kMany, "(", "1", ")") + " }}",
        "{{ " + nested(kMany, "[", "1", "]") + " }}", "{{ " + nested(kMany, "{'a':", "1", "}") + " }}",
        "{% if false %}" + repeated(kMany, "{% elif false %}") + "{% endif %}"}) {
    expect_unsupported(source, {"line 1", "200 levels"});
  }
  for (const std::string& source :
       {"{{ " + repeated(kMany, "not ") + "1 }}", "{{ 1" + repeated(kMany, " + 1") + " }}",
        "{{ f" + repeated(kMany, "()") + " }}", "{{ 1" + repeated(kMany, " if 1 else 1") + " }}",
        "{{ 'a'" + repeated(kMany, "|trim") + " }}"}) {
    expect_unsupported(source, {"line 1", "4000"});
  }
  EXPECT_EQ(render(nested(190, "{% if true %}", "{% set a = 1 %}{{ ((a)) }}", "{% endif %}"), {{"user", "u"}}), "1");
  EXPECT_EQ(render(repeated(500, "{% set a = (1) %}{% set b %}x{% endset %}{% if a %}{% elif b %}{% endif %}"),
                   {{"user", "u"}}),
            "");
  EXPECT_EQ(render("{{ 0" + repeated(1900, " + 1") + " }}", {{"user", "u"}}), "1900");
}

TEST_F(ChatTemplateTest, ARefusalOfTheTemplateIsAUsageError) {
  const ChatTemplate chat(
      "{% if messages[0].role == 'system' %}{{ raise_exception('no system messages, please') }}{% endif %}ok",
      *tokenizer_);
  const std::vector<Message> good = {{"user", "x"}}, bad = {{"system", "x"}};
  EXPECT_EQ(chat.render(good), "ok");
  try {
    chat.render(bad);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(e.what()).find("no system messages, please"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace vase::text
