#include "eval/tasks/procedures.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "vase/error.h"

namespace vase::eval {
namespace {

constexpr const Procedure* kProcedures[] = {&kChain, &kHalves, &kState, &kGraph};

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

std::string range_text(const Setting& setting) {
  return std::to_string(setting.low) + " to " + std::to_string(setting.high);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(',', from), text.size());
    parts.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

const Setting& find_setting(const Procedure& procedure, const std::string& name) {
  const auto found =
      std::ranges::find(procedure.settings, name, [](const Setting& s) { return std::string_view(s.name); });
  if (found == procedure.settings.end()) {
    fail("the task " + std::string(procedure.name) + " has no setting '" + name +
         "'; there are: " + settings_text(procedure));
  }
  return *found;
}

int parse_value(const Procedure& procedure, const Setting& setting, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < setting.low || value > setting.high) {
    fail("the setting " + std::string(setting.name) + " of the task " + procedure.name + " is '" + text +
         "'; allowed: whole numbers, " + range_text(setting));
  }
  return value;
}

}  // namespace

std::span<const Procedure* const> procedures() { return kProcedures; }

const Procedure* find_procedure(std::string_view name) {
  const auto* const found = std::ranges::find_if(kProcedures, [&](const Procedure* p) { return name == p->name; });
  return found == std::end(kProcedures) ? nullptr : *found;
}

std::string settings_text(const Procedure& procedure) {
  std::string text;
  for (const Setting& s : procedure.settings) {
    text += (text.empty() ? "" : ", ") + std::string(s.name) + "=" + std::to_string(s.fallback) + " (" + s.summary +
            "; " + range_text(s) + ")";
  }
  return text;
}

Settings parse_settings(const Procedure& procedure, const std::string& spec) {
  Settings settings;
  const size_t colon = spec.find(':');
  const std::string_view given =
      colon == std::string::npos ? std::string_view() : std::string_view(spec).substr(colon + 1);
  for (const std::string& part : colon == std::string::npos ? std::vector<std::string>() : split_at_commas(given)) {
    const size_t equals = std::min(part.find('='), part.size());
    const Setting& setting = find_setting(procedure, part.substr(0, equals));
    const std::string value = equals == part.size() ? "" : part.substr(equals + 1);
    if (!settings.emplace(setting.name, parse_value(procedure, setting, value)).second) {
      fail("the setting " + std::string(setting.name) + " of the task " + procedure.name + " is given twice");
    }
  }
  for (const Setting& setting : procedure.settings) settings.emplace(setting.name, setting.fallback);
  return settings;
}

std::string canonical_spec(const Procedure& procedure, const Settings& settings) {
  std::string text = procedure.name;
  char before = ':';
  for (const Setting& s : procedure.settings) {
    text += before + std::string(s.name) + "=" + std::to_string(settings.at(s.name));
    before = ',';
  }
  return text;
}

Problem make_problem(const Procedure& procedure, const Settings& settings, uint64_t seed, int index) {
  const std::string id = "s" + std::to_string(seed) + "-" + std::to_string(index);
  Random random(seed_from(canonical_spec(procedure, settings) + " " + id));
  Problem problem = procedure.make(settings, random);
  problem.id = id;
  return problem;
}

std::string list_begin(std::string_view lines) {
  const size_t first = lines.find('\n');
  const size_t second = first == std::string_view::npos ? first : lines.find('\n', first + 1);
  return "\nThe list begins:\n" + std::string(lines.substr(0, second));
}

std::string worked_end(const std::string& answer) { return "\n\nThe answer is \\boxed{" + answer + "}."; }

}  // namespace vase::eval
