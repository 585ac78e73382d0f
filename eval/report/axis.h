// Axes of figures: where a value stands, and which values are written beside the axis.
#pragma once

#include <string>
#include <vector>

namespace vase::eval::report {

struct Tick {
  double value;
  std::string text;
};

struct Axis {
  bool log = false;
  double low = 0, high = 1;  // low < high; above 0 when log
  std::vector<Tick> ticks;   // from low to high
  std::string label;         // quantity and unit

  // 0 at low, 1 at high; values beyond them stand at the end.
  double place(double value) const;
};

// From 0 to a round number that is not below `highest`, with ticks at round numbers, at most six steps of
// them.
Axis linear_axis(double highest, const std::string& label);

// From a number 1, 2 or 5 times a power of ten that is not above `lowest` to such a one that is not below
// `highest`. Over more than three powers of ten only these have ticks, over more than eight not all of them.
// Throws Error(kUsage) unless 0 < lowest <= highest.
Axis log_axis(double lowest, double highest, const std::string& label);

// A log axis with ticks at `values` (above 0, not empty) alone and some room beside the outermost; a tick
// that would stand on the one before it is left out.
Axis axis_at(std::vector<double> values, const std::string& label);

// "512", "0.002", "1048576": up to ten digits, without an exponent from 0.0001 on.
std::string plain_number(double value);

}  // namespace vase::eval::report
