#include "eval/run/prompt.h"

#include <algorithm>

#include "eval/stripped.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr size_t kTail = 32;  // tokens: <think> in single characters, and blanks behind it

}  // namespace

std::vector<int32_t> prompt_tokens(const Model& model, const std::string& system, bool raw,
                                   const std::string& user) {
  if (raw) return model.tokenize(user);
  if (!model.has_chat_template()) {
    throw Error(ErrorCode::kUsage,
                "this model file has no chat template; use --raw to give it the prompt as it is");
  }
  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({"system", system});
  messages.push_back({"user", user});
  return model.tokenize_chat(messages);
}

bool opens_thinking(const Model& model, std::span<const int32_t> prompt) {
  std::string end;
  for (const int32_t token : prompt.last(std::min(kTail, prompt.size()))) end += model.piece(token);
  return stripped(end).ends_with("<think>");
}

}  // namespace vase::eval
