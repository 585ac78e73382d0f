#include "text/chat_template.h"

#include <string_view>

#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "text/template_check.h"
#include "vase/error.h"

namespace vase::text {
namespace {

constexpr std::string_view kRefusal = "Jinja Exception: ";  // how the engine reports raise_exception()

// The engine's messages span several lines: place, source with a caret, reason. Keeps "place: reason" in one.
std::string one_line(const std::string& message) {
  const auto between = [&](std::string_view from, std::string_view to) -> std::string {
    const size_t begin = message.find(from);
    if (begin == std::string::npos) return {};
    const size_t start = begin + from.size();
    return message.substr(start, message.find(to, start) - start);
  };
  const std::string place = between(" at line ", " in source");
  const std::string reason = between("Error: ", "\n");
  if (place.empty() || reason.empty()) return message.substr(0, message.find('\n'));
  return "line " + place + ": " + reason;
}

// Where parsing failed. The engine says it only by a caret below an excerpt; of an unknown statement just the name.
std::string parse_place(const std::string& message, const jinja::lexer_result& lexed) {
  const std::string_view unknown = "Unknown statement: ";
  if (message.starts_with(unknown)) {
    for (size_t i = 1; i < lexed.tokens.size(); ++i) {
      const bool opens = lexed.tokens[i - 1].t == jinja::token::open_statement;
      if (opens && lexed.tokens[i].value == message.substr(unknown.size())) {
        return line_and_column(lexed.source, lexed.tokens[i].pos) + ": ";
      }
    }
  }
  const size_t begin = message.find("\n..."), end = message.rfind("...\n");
  if (begin == std::string::npos || end == std::string::npos || end < begin + 4) return {};
  std::string excerpt = message.substr(begin + 4, end - begin - 4);
  jinja::string_replace_all(excerpt, "\u21B5", "\n");
  const size_t at = lexed.source.find(excerpt);
  const size_t caret = message.size() - (end + 4) - 1;  // spaces before '^', three of them under "..."
  return at == std::string::npos ? std::string() : line_and_column(lexed.source, at + caret - 3) + ": ";
}

jinja::program parse(const std::string& source) {
  jinja::lexer_result lexed;
  lexed.source = source;
  try {
    lexed = jinja::lexer().tokenize(source);
    check_template_depth(lexed);
    return jinja::parse_from_tokens(lexed);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    const std::string message = e.what();
    throw Error(ErrorCode::kUnsupported, "chat template, " + parse_place(message, lexed) +
                                             message.substr(0, message.find('\n')));
  }
}

// What the template sees as `messages`. Contents are marked as input, so that they can be told from the template's
// text.
jinja::value message_list(std::span<const Message> messages) {
  auto list = jinja::mk_val<jinja::value_array>();
  for (const Message& message : messages) {
    auto content = jinja::mk_val<jinja::value_string>(message.content);
    content->mark_input();
    auto entry = jinja::mk_val<jinja::value_object>();
    entry->insert("role", jinja::mk_val<jinja::value_string>(message.role));
    entry->insert("content", content);
    list->push_back(entry);
  }
  return list;
}

}  // namespace

struct ChatTemplate::Impl {
  std::string source, bos, eos;
  jinja::program program;

  std::vector<jinja::string_part> run(std::span<const Message> messages) const;
};

std::vector<jinja::string_part> ChatTemplate::Impl::run(std::span<const Message> messages) const {
  jinja::context context(source);
  context.set_val("messages", message_list(messages));
  context.set_val("bos_token", jinja::mk_val<jinja::value_string>(bos));
  context.set_val("eos_token", jinja::mk_val<jinja::value_string>(eos));
  context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(true));
  try {
    const jinja::value result = jinja::runtime(context).execute(program);
    return jinja::runtime::gather_string_parts(result)->val_str.parts;
  } catch (const std::exception& e) {
    const std::string message = e.what();
    if (const size_t at = message.rfind(kRefusal); at != std::string::npos) {
      throw Error(ErrorCode::kUsage, "the chat template refuses this conversation: " +
                                         message.substr(at + kRefusal.size()));
    }
    throw Error(ErrorCode::kUnsupported, "chat template, " + one_line(message));
  }
}

ChatTemplate::ChatTemplate(const std::string& source, const Tokenizer& tokenizer) : impl_(std::make_unique<Impl>()) {
  impl_->source = source;
  impl_->bos = tokenizer.token_text(tokenizer.bos());
  impl_->eos = tokenizer.token_text(tokenizer.eos());
  impl_->program = parse(source);
  check_template_names(impl_->program, source);
  try {  // finds what only running can find; a refusal of this very conversation is the template's right
    const Message probe{"user", "x"};
    impl_->run({&probe, 1});
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUsage) throw;
  }
}

ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::render(std::span<const Message> messages) const {
  std::string text;
  for (const jinja::string_part& part : impl_->run(messages)) text += part.val;
  return text;
}

std::vector<int32_t> ChatTemplate::encode(std::span<const Message> messages, const Tokenizer& tokenizer) const {
  const std::vector<jinja::string_part> parts = impl_->run(messages);
  std::string text;
  bool plain = true;  // no message spells a special token
  for (const jinja::string_part& part : parts) {
    text += part.val;
    plain = plain &&
            (!part.is_input || tokenizer.encode(part.val, false, true) == tokenizer.encode(part.val, false, false));
  }
  if (plain) return tokenizer.encode(text, false, true);

  std::vector<int32_t> tokens;
  for (const jinja::string_part& part : parts) {
    const std::vector<int32_t> more = tokenizer.encode(part.val, false, !part.is_input);
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  return tokens;
}

}  // namespace vase::text
