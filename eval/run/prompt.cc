#include "eval/run/prompt.h"

#include "vase/error.h"

namespace vase::eval {

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

}  // namespace vase::eval
