#include "startup.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace vase::cli {
namespace {

// A file opened later would get the number of a stream that was closed, and our text with it. /dev/null is opened so
// that writing to a standard output that was closed still fails; messages without a reader are lost.
void fill_standard_streams() {
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream <= 2; ++stream) {
    // The lowest free number is this one, since those below are taken.
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", kModes[stream]) != stream) std::abort();
  }
}

// OpenMP runtimes crash or hang on values that they cannot read, and with fewer threads than ggml asks for. The number
// of threads is --threads alone.
void forget_thread_settings() {
  for (const char* name :
       {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "KMP_DEVICE_THREAD_LIMIT", "KMP_ALL_THREADS"}) {
    unsetenv(name);
  }
}

}  // namespace

void prepare_process() {
  fill_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  forget_thread_settings();
}

}  // namespace vase::cli
