#include "live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interrupt.h"

namespace vase::cli {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(100);
// Saves the cursor, lets the whole screen scroll again (which moves the cursor), restores it and clears what
// is below.
constexpr const char* kRelease = "\0337\033[r\0338\033[J";
constexpr const char* kReleaseAndBreak = "\0337\033[r\0338\033[J\n";

void put(const std::string& bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stderr);
  std::fflush(stderr);
}

// First `columns` bytes: the status is ASCII.
std::string fitting(const std::string& text, int columns) { return text.substr(0, std::max(columns - 1, 0)); }

// Decodes the character at the front of valid UTF-8 and removes it.
wchar_t next_character(std::string_view& text) {
  const unsigned char lead = text[0];
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  wchar_t c = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length && i < text.size(); ++i) c = (c << 6) | (text[i] & 0x3F);
  text.remove_prefix(std::min(length, text.size()));
  return c;
}

}  // namespace

LiveLine::LiveLine() {
  const char* kind = std::getenv("TERM");
  winsize size = {};
  if (!isatty(STDERR_FILENO) || !kind || std::strcmp(kind, "dumb") == 0) return;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 4 || size.ws_col < 20) return;
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for wcwidth()
  columns_ = size.ws_col;
  mode_ = isatty(STDOUT_FILENO) ? Mode::kBottomRow : Mode::kOwnLine;
  if (mode_ == Mode::kBottomRow) reserve_bottom_row(size.ws_row);
}

LiveLine::~LiveLine() { close(); }

void LiveLine::reserve_bottom_row(int rows) {
  rows_ = rows;
  // Down and up again: scrolls by one when the cursor stood on the bottom row. Setting the region moves the
  // cursor, hence save and restore.
  put("\n\033[A\0337\033[1;" + std::to_string(rows - 1) + "r\0338");
  set_farewell(kReleaseAndBreak);
}

bool LiveLine::due() const {
  return mode_ != Mode::kOff && std::chrono::steady_clock::now() - last_ >= kPeriod;
}

void LiveLine::show(const std::string& text) {
  if (!due()) return;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row >= 4 && size.ws_col >= 20)
    columns_ = size.ws_col;
  if (mode_ == Mode::kOwnLine) {
    put("\r" + fitting(text, columns_) + "\033[K");
  } else {
    // Behind the last column the cursor waits to wrap, a state that terminals forget when they restore it.
    if (column_ >= columns_) return;
    if (size.ws_row >= 4 && size.ws_row != rows_) {
      put(kRelease);
      reserve_bottom_row(size.ws_row);
    }
    put("\0337\033[" + std::to_string(rows_) + ";1H\033[7m" + fitting(text, columns_) + "\033[0m\033[K\0338");
  }
  last_ = std::chrono::steady_clock::now();
}

void LiveLine::wrote(std::string_view text) {
  if (mode_ != Mode::kBottomRow) return;
  while (!text.empty()) {
    const wchar_t c = next_character(text);
    if (c == L'\n' || c == L'\r') {
      column_ = 0;
    } else if (c == L'\t') {
      column_ = std::min((column_ / 8 + 1) * 8, columns_ - 1);
    } else if (const int width = wcwidth(c); width > 0) {
      column_ = column_ + width > columns_ ? width : column_ + width;
    }
  }
}

void LiveLine::close() {
  if (mode_ == Mode::kOwnLine) put("\r\033[K");
  if (mode_ == Mode::kBottomRow) {
    put(kRelease);
    set_farewell(nullptr);
  }
  mode_ = Mode::kOff;
}

}  // namespace vase::cli
