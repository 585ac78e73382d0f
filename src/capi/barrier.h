// The exception barrier: every function of vase.h that can fail runs its body inside guarded().
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "vase/error.h"
#include "vase/vase.h"

namespace vase::capi {

// A scorer behind vase.h reported that it failed.
class CallbackFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Stores the message of this thread; returns status.
vase_status failed(vase_status status, const char* message) noexcept;

// The exception in flight as a status, its message stored.
vase_status failed_by_exception() noexcept;

template <typename Body>
vase_status guarded(Body&& body) noexcept {
  try {
    body();
    return VASE_OK;
  } catch (...) {
    return failed_by_exception();
  }
}

// A function that makes a handle: *result is NULL unless make() succeeds.
template <typename Handle, typename Make>
vase_status guarded_new(Handle** result, const char* name, Make&& make) noexcept {
  if (!result) return failed(VASE_USAGE, (std::string(name) + " is NULL").c_str());
  *result = nullptr;
  return guarded([&] { *result = make(); });
}

// Throws Error(kUsage) for NULL.
template <typename T>
T& required(T* pointer, const char* name) {
  if (!pointer) throw Error(ErrorCode::kUsage, std::string(name) + " is NULL; it must point to something");
  return *pointer;
}

// Throws Error(kUsage) for NULL with a count above 0.
void require_array(const void* array, size_t count, const char* name);

}  // namespace vase::capi
