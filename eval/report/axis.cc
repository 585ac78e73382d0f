#include "eval/report/axis.h"

#include <algorithm>
#include <cmath>

#include "eval/number_text.h"
#include "vase/error.h"

namespace vase::eval::report {
namespace {

constexpr int kMostSteps = 6;       // of a linear axis
constexpr int kMostPowers = 8;      // of ten with a tick
constexpr int kFinest = 3;          // powers of ten with ticks at 2 and 5 as well
constexpr double kClosest = 0.06;   // of the axis, between two ticks
constexpr double kRounding = 1e-9;  // of a number that is meant to be 1, 2, 5 or 10

// 1, 2 or 5 times a power of ten.
struct Round {
  int power, digit;
  double value() const { return digit * std::pow(10.0, power); }
};

Round round_below(double value) {
  int power = static_cast<int>(std::floor(std::log10(value)));
  double mantissa = value / std::pow(10.0, power);
  if (mantissa >= 10 - kRounding) ++power, mantissa /= 10;
  return {power, mantissa >= 5 - kRounding ? 5 : mantissa >= 2 - kRounding ? 2 : 1};
}

Round next(Round r) { return r.digit == 5 ? Round{r.power + 1, 1} : Round{r.power, r.digit == 1 ? 2 : 5}; }

Round round_above(double value) {
  const Round below = round_below(value);
  return below.value() >= value * (1 - kRounding) ? below : next(below);
}

}  // namespace

double Axis::place(double value) const {
  if (log && value <= low) return 0;
  const double share = log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

std::string plain_number(double value) { return number_text("%.10g", value); }

Axis linear_axis(double highest, const std::string& label) {
  if (!(highest > 0)) highest = 1;
  const double step = round_above(highest / kMostSteps).value();
  const int steps = std::max(1, static_cast<int>(std::ceil(highest / step - kRounding)));
  Axis axis{.log = false, .low = 0, .high = steps * step, .ticks = {}, .label = label};
  for (int i = 0; i <= steps; ++i) axis.ticks.push_back({i * step, plain_number(i * step)});
  return axis;
}

Axis log_axis(double lowest, double highest, const std::string& label) {
  if (!(lowest > 0 && lowest <= highest)) {
    throw Error(ErrorCode::kUsage, "a log axis from " + plain_number(lowest) + " to " +
                                       plain_number(highest) +
                                       "; allowed: numbers above 0, the smaller one first");
  }
  const Round first = round_below(lowest);
  Round last = round_above(highest);
  if (first.value() == last.value()) last = next(last);
  Axis axis{.log = true, .low = first.value(), .high = last.value(), .ticks = {}, .label = label};
  const double powers = std::log10(axis.high / axis.low);
  const int every = static_cast<int>(powers / kMostPowers) + 1;
  for (Round r = first; r.value() <= axis.high * (1 + kRounding); r = next(r)) {
    if (powers > kFinest + kRounding && (r.digit != 1 || r.power % every != 0)) continue;
    axis.ticks.push_back({r.value(), plain_number(r.value())});
  }
  return axis;
}

Axis axis_at(std::vector<double> values, const std::string& label) {
  std::ranges::sort(values);
  const double span = values.back() / values.front(), room = span > 1 ? std::pow(span, 0.05) : 2;
  Axis axis{
      .log = true, .low = values.front() / room, .high = values.back() * room, .ticks = {}, .label = label};
  double before = -1;
  for (const double value : values) {
    if (axis.place(value) - before < kClosest) continue;
    before = axis.place(value);
    axis.ticks.push_back({value, plain_number(value)});
  }
  return axis;
}

}  // namespace vase::eval::report
