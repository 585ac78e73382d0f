#include "interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include "commands.h"

namespace vase::cli {
namespace {

std::atomic<bool> deferred{false}, seen{false};
std::atomic<const char*> farewell{nullptr};
std::array<std::atomic<const char*>, 8> half_made{};
static_assert(std::atomic<const char*>::is_always_lock_free);  // needed in a signal handler

void on_interrupt(int) {
  if (!seen.exchange(true) && deferred) return;
  for (const std::atomic<const char*>& path : half_made) {
    if (const char* name = path) unlink(name);
  }
  if (const char* bytes = farewell) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, bytes, std::strlen(bytes));
  }
  _exit(kExitInterrupted);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {}, before = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

void defer_interrupts() {
  deferred = true;
  watch_interrupts();
}

bool interrupted() { return seen; }

void remove_on_interrupt(const char* path) {
  for (std::atomic<const char*>& place : half_made) {
    const char* free = nullptr;
    if (place.compare_exchange_strong(free, path)) return;
  }
}

void keep_on_interrupt(const char* path) {
  for (std::atomic<const char*>& place : half_made) {
    const char* expected = path;
    if (place.compare_exchange_strong(expected, nullptr)) return;
  }
}

void set_farewell(const char* bytes) { farewell = bytes; }

}  // namespace vase::cli
