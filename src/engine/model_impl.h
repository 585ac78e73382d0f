// What a vase::Model holds.
#pragma once

#include <memory>
#include <optional>

#include "model/weights.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "vase/error.h"
#include "vase/model.h"

namespace vase {

struct Model::Impl {
  std::shared_ptr<const model::Weights> weights;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::optional<text::ChatTemplate> chat;
  std::optional<Error> chat_error;  // why the file's template cannot be used; thrown when it is asked for
  ModelShape shape;
};

}  // namespace vase
