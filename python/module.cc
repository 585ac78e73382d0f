// The extension module vase._vase: vase::Error becomes vase.Error, and every folder of names is bound in its own file.
#include "bindings.h"
#include "vase/error.h"
#include "vase/version.h"

namespace vase::python {
namespace {

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage: return "usage";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kResource: return "resource";
    case ErrorCode::kNonFinite: return "non-finite";
  }
  return "unknown";
}

// The class is made in Python (vase/error.py); it takes the message and the name of the code.
void raise(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    const nb::object type = nb::module_::import_("vase.error").attr("Error");
    PyErr_SetObject(type.ptr(), type(e.what(), name_of(e.code())).ptr());
  }
}

}  // namespace
}  // namespace vase::python

NB_MODULE(_vase, module) {
  using namespace vase::python;
  nb::register_exception_translator(raise);
  nb::set_leak_warnings(false);  // a scorer may refer to its engine; such a ring is no fault of the module's
  module.attr("version") = std::to_string(VASE_VERSION_MAJOR) + "." + std::to_string(VASE_VERSION_MINOR) + "." +
                           std::to_string(VASE_VERSION_PATCH);
  bind_policy(module);
  bind_model(module);
  bind_engine(module);
  bind_select(module);
}
