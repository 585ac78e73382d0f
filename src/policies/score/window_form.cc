#include "policies/score/window_form.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vase {
namespace {

constexpr std::array<std::string_view, 3> kFormNames = {"mean", "rms", "max"};    // in the order of Form
constexpr std::array<std::string_view, 2> kOverNames = {"candidates", "all"};
constexpr std::array<std::string_view, 2> kDivisorNames = {"valid", "fixed"};     // in the order of kernels::Divisor
constexpr std::array<AttentionRecord, 3> kRecords = {AttentionRecord::kWindowSum, AttentionRecord::kWindowSquares,
                                                     AttentionRecord::kWindowMax};

constexpr PartInfo::Parameter kParameters[] = {
    {"form", "mean", "mean, rms, max", "of the probabilities over queries and heads of the group"},
    {"over", "candidates", "candidates, all", "slots that share one unit of probability; all includes the buffer"},
    {"smooth", "on", "on, off", "average over 5 neighbours"},
    {"divisor", "valid", "valid, fixed", "of the average: neighbours that exist, or always 5"},
    {"temperature", "1", "0.01 to 100", "logits are divided by it"},
};

}  // namespace

std::span<const PartInfo::Parameter> WindowForm::parameters() { return kParameters; }

WindowForm WindowForm::parse(PartOptions& options) {
  WindowForm form;
  form.form = Form(options.choice("form", 0, kFormNames));
  form.over_all = options.choice("over", 0, kOverNames) == 1;
  form.smooth = options.on_off("smooth", true);
  form.divisor = kernels::Divisor(options.choice("divisor", 0, kDivisorNames));
  form.temperature = options.real("temperature", 1, 0.01, 100);
  return form;
}

PolicyNeeds WindowForm::needs() const {
  return {.attention = kRecords[static_cast<size_t>(form)], .temperature = static_cast<float>(temperature),
          .over_all = over_all};
}

void WindowForm::evaluate(const HeadView& head, PolicyScratch& scratch, std::span<float> out) const {
  const float rows = static_cast<float>(head.attention_rows);
  std::span<const float> record = head.attention;
  if (form == Form::kRms) {
    const auto roots = std::span(scratch.energy).first(record.size());
    std::transform(record.begin(), record.end(), roots.begin(), [&](float sum) { return std::sqrt(sum / rows); });
    record = roots;
  }
  if (smooth) {
    kernels::smooth5(record, divisor, out);
  } else {
    std::copy(record.begin(), record.end(), out.begin());
  }
  if (form != Form::kMean) return;
  for (float& score : out) score /= rows;
}

std::string WindowForm::text(const std::string& name) const {
  std::string options;
  const auto add = [&](const std::string& option) { options += (options.empty() ? ":" : ",") + option; };
  if (form != Form::kMean) add("form=" + std::string(kFormNames[static_cast<size_t>(form)]));
  if (over_all) add("over=all");
  if (!smooth) add("smooth=off");
  if (smooth && divisor == kernels::Divisor::kFixed) add("divisor=fixed");
  if (temperature != 1) add("temperature=" + shortest(temperature));
  return name + options;
}

}  // namespace vase
