#include "capi/barrier.h"

#include <algorithm>
#include <cstring>

namespace vase::capi {
namespace {

// Fixed, so that storing a message cannot fail; longer ones are cut.
thread_local char last_message[2048] = "";

vase_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage: return VASE_USAGE;
    case ErrorCode::kNotFound: return VASE_NOT_FOUND;
    case ErrorCode::kCorrupt: return VASE_CORRUPT;
    case ErrorCode::kUnsupported: return VASE_UNSUPPORTED;
    case ErrorCode::kResource: return VASE_RESOURCE;
    case ErrorCode::kNonFinite: return VASE_NON_FINITE;
  }
  return VASE_INTERNAL;
}

}  // namespace

vase_status failed(vase_status status, const char* message) noexcept {
  const size_t size = std::min(std::strlen(message), sizeof(last_message) - 1);
  std::memmove(last_message, message, size);
  last_message[size] = '\0';
  return status;
}

vase_status failed_by_exception() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return failed(status_of(e.code()), e.what());
  } catch (const CallbackFailure& e) {
    return failed(VASE_CALLBACK, e.what());
  } catch (const std::bad_alloc&) {
    return failed(VASE_RESOURCE, "out of memory");
  } catch (const std::exception& e) {
    return failed(VASE_INTERNAL, e.what());
  } catch (...) {
    return failed(VASE_INTERNAL, "an exception of an unknown type");
  }
}

void require_array(const void* array, size_t count, const char* name) {
  if (array || count == 0) return;
  throw Error(ErrorCode::kUsage, std::string(name) + " is NULL, but its count is " + std::to_string(count));
}

}  // namespace vase::capi

extern "C" {

int vase_version_number(void) { return VASE_VERSION_NUMBER; }

#define VASE_TEXT_OF(x) #x
#define VASE_VERSION_TEXT(major, minor, patch) VASE_TEXT_OF(major) "." VASE_TEXT_OF(minor) "." VASE_TEXT_OF(patch)
const char* vase_version(void) {
  return VASE_VERSION_TEXT(VASE_VERSION_MAJOR, VASE_VERSION_MINOR, VASE_VERSION_PATCH);
}

const char* vase_error_message(void) { return vase::capi::last_message; }

}  // extern "C"
