// Renders a conversation with the model file's own Jinja template.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "text/tokenizer.h"

namespace vase::text {

struct Message {
  std::string role;     // "system", "user", "assistant"
  std::string content;
};

class ChatTemplate {
 public:
  // Parses once. Throws Error(kUnsupported) with line and name when the template uses something unknown.
  ChatTemplate(const std::string& source, const Tokenizer& tokenizer);
  ~ChatTemplate();
  // With the generation prompt appended. Throws Error(kUsage) with the template's own message when it refuses.
  std::string render(std::span<const Message> messages) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vase::text
