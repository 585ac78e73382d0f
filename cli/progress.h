// A bar on standard error for long work: how far, how long still, and what is being done.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace vase::cli {

class Progress {
 public:
  // total: steps, of which `before` were done by an earlier process. Shows nothing unless standard error is a terminal.
  explicit Progress(size_t total, size_t before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next step begins, so those before it are done.
  void next(const std::string& what);
  // For steps that overlap: so many are done, those of the earlier process among them.
  void show(size_t done, const std::string& what);
  // Makes room for other output, until the next step.
  void hide() const;

 private:
  size_t total_, before_, begun_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace vase::cli
