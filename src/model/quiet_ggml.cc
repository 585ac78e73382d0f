#include "model/quiet_ggml.h"

#include <ggml.h>

#include <mutex>

namespace vase::model {
namespace {

std::mutex mutex;
int guards = 0;
ggml_log_callback previous = nullptr;
void* previous_data = nullptr;

void swallow(ggml_log_level, const char*, void*) {}

}  // namespace

QuietGgml::QuietGgml() {
  const std::lock_guard lock(mutex);
  if (guards++ > 0) return;
  ggml_log_get(&previous, &previous_data);
  ggml_log_set(swallow, nullptr);
}

QuietGgml::~QuietGgml() {
  const std::lock_guard lock(mutex);
  if (--guards == 0) ggml_log_set(previous, previous_data);
}

}  // namespace vase::model
