// Long work, and telling what came out of it.
#pragma once

#include <exception>

namespace vase::cli {

// run: false when it was interrupted. report: takes whether all is there, and is called even when `run`
// throws: what was measured before an error is shown with it. Returns what `run` does, and rethrows what it
// throws.
template <typename Run, typename Report>
bool run_and_report(const Run& run, const Report& report) {
  bool complete = false;
  try {
    complete = run();
  } catch (const std::exception&) {
    const std::exception_ptr first = std::current_exception();
    try {
      report(false);
    } catch (const std::exception&) {  // a full disk, say, which is no reason to hide the first error
    }
    std::rethrow_exception(first);
  }
  report(complete);
  return complete;
}

}  // namespace vase::cli
