// Model and its shape.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "vase/error.h"
#include "vase/model.h"

namespace vase::python {
namespace {

// nanobind wraps what is not const; a model offers nothing that changes it.
std::shared_ptr<Model> load(const std::filesystem::path& path) {
  const nb::gil_scoped_release unlocked;
  return std::const_pointer_cast<Model>(Model::load(path.string()));
}

// [{"role": ..., "content": ...}, ...]
std::vector<ChatMessage> chat_of(const nb::list& messages) {
  std::vector<ChatMessage> chat;
  for (const nb::handle message : messages) {
    const bool is_dict = nb::isinstance<nb::dict>(message);
    const nb::dict dict = is_dict ? nb::borrow<nb::dict>(message) : nb::dict();
    ChatMessage one;
    if (!dict.contains("role") || !dict.contains("content") || !nb::try_cast(dict["role"], one.role) ||
        !nb::try_cast(dict["content"], one.content)) {
      throw Error(ErrorCode::kUsage, "a message must be a dict with the texts 'role' and 'content'");
    }
    chat.push_back(std::move(one));
  }
  return chat;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<ModelShape>(module, "ModelShape", "The numbers that decide what a cache costs.")
      .def_ro("architecture", &ModelShape::architecture)
      .def_ro("name", &ModelShape::name)
      .def_ro("layers", &ModelShape::layers)
      .def_ro("query_heads", &ModelShape::query_heads)
      .def_ro("kv_heads", &ModelShape::kv_heads)
      .def_ro("head_dim", &ModelShape::head_dim)
      .def_ro("embedding", &ModelShape::embedding)
      .def_ro("vocabulary", &ModelShape::vocabulary)
      .def_ro("trained_context", &ModelShape::trained_context)
      .def_ro("file_bytes", &ModelShape::file_bytes)
      .def_ro("fingerprint", &ModelShape::fingerprint);
  nb::class_<Model>(module, "Model", "A GGUF file: weights, vocabulary, chat template. Any number of engines may share it.")
      .def(nb::new_(&load), nb::arg("path"))
      .def_prop_ro("shape", &Model::shape, nb::rv_policy::reference_internal)
      .def("tokenize", [](const Model& m, const std::string& text, bool add_special) { return m.tokenize(text, add_special); },
           nb::arg("text"), nb::arg("add_special") = true, "Tokens of a text; special tokens in it are recognised.")
      .def("piece",
           [](const Model& m, int32_t token) {
             const std::string piece = m.piece(token);
             return nb::bytes(piece.data(), piece.size());
           },
           nb::arg("token"), "Bytes of one token; may be a part of a character.")
      .def("ends_generation", &Model::ends_generation, nb::arg("token"))
      .def_prop_ro("has_chat_template", &Model::has_chat_template)
      .def("render_chat", [](const Model& m, const nb::list& messages) { return m.render_chat(chat_of(messages)); },
           nb::arg("messages"), "The conversation, a list of {'role': ..., 'content': ...}, as the file's template writes it.")
      .def("tokenize_chat", [](const Model& m, const nb::list& messages) { return m.tokenize_chat(chat_of(messages)); },
           nb::arg("messages"), "The same as tokens.");
}

}  // namespace vase::python
