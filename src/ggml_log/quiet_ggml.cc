#include "ggml_log/quiet_ggml.h"

#include <llama.h>

#include <mutex>
#include <utility>

namespace vase {

// The callback of the process, shared by all guards. It holds no pointer to any of them: a line goes to the guard of
// the thread that logs it.
struct GgmlLog {
  static void on_line(ggml_log_level level, const char* text, void*) {
    if (level != GGML_LOG_LEVEL_ERROR || innermost == nullptr) return;
    if (innermost->first_error_.empty()) innermost->first_error_ = text;
  }

  void enter() {
    const std::lock_guard lock(mutex);
    if (guards++ > 0) return;
    llama_log_get(&previous, &previous_data);
    llama_log_set(&GgmlLog::on_line, nullptr);
  }

  void leave() {
    const std::lock_guard lock(mutex);
    if (--guards > 0) return;
    ggml_log_callback current = nullptr;
    void* data = nullptr;
    llama_log_get(&current, &data);
    if (current == &GgmlLog::on_line) llama_log_set(previous, previous_data);
  }

  static thread_local QuietGgml* innermost;
  std::mutex mutex;
  int guards = 0;
  ggml_log_callback previous = nullptr;
  void* previous_data = nullptr;
};

thread_local QuietGgml* GgmlLog::innermost = nullptr;

namespace {

GgmlLog ggml_log;

}  // namespace

QuietGgml::QuietGgml() : outer_(std::exchange(GgmlLog::innermost, this)) { ggml_log.enter(); }

QuietGgml::~QuietGgml() {
  ggml_log.leave();
  GgmlLog::innermost = outer_;
}

}  // namespace vase
