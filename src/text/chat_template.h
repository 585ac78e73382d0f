// Renders a conversation with the model file's own Jinja template.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace vase::text {

struct Message {
  std::string role;     // "system", "user", "assistant"
  std::string content;
};

class ChatTemplate {
 public:
  // Parses once and tries a one-message conversation. Throws Error(kUnsupported) with line and name when the template
  // uses something unknown.
  ChatTemplate(const std::string& source, const Tokenizer& tokenizer);
  ~ChatTemplate();
  // With the generation prompt appended. Throws Error(kUsage) with the template's own message when it refuses.
  std::string render(std::span<const Message> messages) const;
  // The rendered conversation as tokens. Special tokens come from the template alone: one that is spelled inside of a
  // message is ordinary text, so a user cannot close a turn or speak as the system. No BOS is added beyond the
  // template's own.
  std::vector<int32_t> encode(std::span<const Message> messages, const Tokenizer& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::text
