#include "vase/model.h"

#include "engine/model_impl.h"
#include "engine/model_shape.h"
#include "vase/error.h"

namespace vase {
namespace {

const text::ChatTemplate& chat_of(const Model::Impl& impl) {
  if (impl.chat_error) throw *impl.chat_error;
  if (!impl.chat) {
    throw Error(ErrorCode::kUnsupported, "this model file has no chat template; use raw text instead");
  }
  return *impl.chat;
}

std::vector<text::Message> messages_of(std::span<const ChatMessage> messages) {
  std::vector<text::Message> list;
  for (const ChatMessage& m : messages) list.push_back({m.role, m.content});
  return list;
}

model::WeightLayout layout_for(Products products) {
  return products == Products::kOwn ? model::WeightLayout::kOwn : model::WeightLayout::kGgml;
}

}  // namespace

Model::Model() : impl_(std::make_unique<Impl>()) {}
Model::~Model() = default;

std::shared_ptr<const Model> Model::load(const std::string& path, Products products) {
  std::shared_ptr<Model> model(new Model);
  Impl& impl = *model->impl_;
  model::read_header(path);  // everything cheap is checked before gigabytes are read
  impl.tokenizer = text::Tokenizer::load(path);
  impl.weights = model::Weights::load(path, {layout_for(products)});
  impl.shape = shape_of(impl.weights->hparams());
  impl.shape.file_bytes = impl.weights->file_bytes();
  impl.shape.fingerprint = impl.weights->fingerprint();
  if (impl.tokenizer->size() != impl.shape.vocabulary) {
    throw Error(ErrorCode::kCorrupt, path + ": the vocabulary has " + std::to_string(impl.tokenizer->size()) +
                                         " tokens, but token_embd.weight has " +
                                         std::to_string(impl.shape.vocabulary) + " rows; they must be equal");
  }
  const std::string source = impl.tokenizer->chat_template();
  try {
    if (!source.empty()) impl.chat.emplace(source, *impl.tokenizer);
  } catch (const Error& e) {  // raw text still works
    impl.chat_error = e;
  }
  return model;
}

const ModelShape& Model::shape() const { return impl_->shape; }

std::vector<int32_t> Model::tokenize(std::string_view text, bool add_special) const {
  return impl_->tokenizer->encode(text, add_special, true);
}

std::string Model::piece(int32_t token) const { return impl_->tokenizer->piece(token); }
bool Model::ends_generation(int32_t token) const { return impl_->tokenizer->ends_generation(token); }
bool Model::has_chat_template() const { return impl_->chat.has_value() || impl_->chat_error.has_value(); }

std::string Model::render_chat(std::span<const ChatMessage> messages) const {
  return chat_of(*impl_).render(messages_of(messages));
}

std::vector<int32_t> Model::tokenize_chat(std::span<const ChatMessage> messages) const {
  return chat_of(*impl_).encode(messages_of(messages), *impl_->tokenizer);
}

ModelShape read_model_shape(const std::string& path) {
  const model::ModelHeader header = model::read_header(path);
  ModelShape shape = shape_of(header.hparams);
  shape.file_bytes = header.file_bytes;
  shape.fingerprint = header.fingerprint;
  return shape;
}

}  // namespace vase
