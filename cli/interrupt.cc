#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "commands.h"

namespace vase::cli {
namespace {

std::atomic<bool> seen{false};
std::atomic<const char*> farewell{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);  // needed in a signal handler

void on_interrupt(int) {
  if (!seen.exchange(true)) return;
  if (const char* bytes = farewell) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, bytes, std::strlen(bytes));
  }
  _exit(kExitInterrupted);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return seen; }
void set_farewell(const char* bytes) { farewell = bytes; }

}  // namespace vase::cli
