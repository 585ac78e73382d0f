#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "eval/printable.h"
#include "output.h"

namespace vase::cli {
namespace {

constexpr int kBar = 24;  // characters

std::string duration(double seconds) {
  const long s = static_cast<long>(seconds + 0.5);
  if (s < 60) return formatted("%lds", s);
  if (s < 3600) return formatted("%ldm%02lds", s / 60, s % 60);
  return formatted("%ldh%02ldm", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress(size_t total, size_t before)
    : total_(total), before_(before), shown_(isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { hide(); }

void Progress::hide() const {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::next(const std::string& what) { show(before_ + begun_++, what); }

void Progress::show(size_t done, const std::string& what) {
  if (!shown_) return;
  const double share = static_cast<double>(done) / static_cast<double>(std::max<size_t>(1, total_));
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string line = "[";
  for (int i = 0; i < kBar; ++i) line += i < share * kBar ? '#' : '.';
  line += formatted("] %zu/%zu", done, total_);
  if (done > before_) {
    const double each = spent / static_cast<double>(done - before_);
    line += ", " + duration(each * static_cast<double>(total_ - std::min(done, total_))) + " left";
  }
  line += "  " + eval::printable(what);
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    line.resize(std::min<size_t>(line.size(), size.ws_col - 1));
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
}

}  // namespace vase::cli
