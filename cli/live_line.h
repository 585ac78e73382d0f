// One line on the terminal that tells how a generation goes. When the text goes to the same terminal, the
// line has the bottom row to itself: the text scrolls in the rows above it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace vase::cli {

class LiveLine {
 public:
  // Shows nothing unless standard error is a terminal that can be controlled.
  LiveLine();
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  // At most ten times per second, so that the caller can format the text only when it is needed.
  bool due() const;
  void show(const std::string& text);
  // Tells what has been written to standard output (and flushed), to know where the cursor is.
  void wrote(std::string_view text);
  // Removes the line and gives the terminal back.
  void close();

 private:
  enum class Mode { kOff, kOwnLine, kBottomRow };

  void reserve_bottom_row(int rows);

  Mode mode_ = Mode::kOff;
  int rows_ = 0, columns_ = 0;
  int column_ = 0;  // of the text cursor; equal to columns_ when the next character will wrap
  std::chrono::steady_clock::time_point last_;
};

}  // namespace vase::cli
