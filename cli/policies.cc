// `vase policies`: what there is to choose from, and what one choice means.
#include <algorithm>
#include <cctype>
#include <regex>

#include "commands.h"
#include "flags.h"
#include "json_output.h"
#include "output.h"
#include "paragraph.h"
#include "policies/presets.h"
#include "policies/words.h"
#include "vase/error.h"
#include "vase/policy.h"
#include "vase/reader.h"

namespace vase::cli {
namespace {

using nlohmann::json;

constexpr int kColumn = 24;  // where texts begin, behind the longest name
constexpr int kBuffer = 64;  // R for the smallest budget that is shown
constexpr int kSlotBytes = 8;  // position and order, which every policy has

// A part as a composition uses it.
struct UsedPart {
  PartInfo info;
  std::string text;  // "value:25%"
};

std::string parameter_label(const PartInfo::Parameter& p) { return p.name.empty() ? "N" : std::string(p.name); }

std::string parameter_text(const PartInfo::Parameter& p) {
  const std::string values =
      std::string(p.allowed) + (p.fallback.empty() ? " (no default)" : " (default " + std::string(p.fallback) + ")");
  std::string_view meaning = p.meaning;
  if (p.name.empty() && meaning.starts_with("N"))
    meaning.remove_prefix(meaning.starts_with("N, ") ? 3 : meaning == "N");
  return meaning.empty() ? values : std::string(meaning) + ": " + values;
}

std::string described(std::string_view summary, std::string_view source) {
  return std::string(summary) + " [" + std::string(source) + "]";
}

std::string part_paragraphs(const PartInfo& part, const std::string& heading) {
  std::string text = paragraph(2, heading, kColumn, described(part.summary, part.source));
  for (const auto& p : part.parameters) text += paragraph(4, parameter_label(p), kColumn, parameter_text(p));
  return text;
}

json part_json(const PartInfo& part) {
  json parameters = json::array();
  for (const auto& p : part.parameters) {
    parameters.push_back({{"name", p.name}, {"default", p.fallback}, {"allowed", p.allowed}, {"meaning", p.meaning}});
  }
  return {{"kind", part.kind}, {"name", part.name}, {"summary", part.summary}, {"source", part.source},
          {"parameters", parameters}};
}

json preset_json(const PolicyInfo& preset) {
  return {{"name", preset.name}, {"summary", preset.summary}, {"source", preset.source}, {"text", preset.text}};
}

std::string everything() {
  std::string text = "Presets\n";
  for (const PolicyInfo& p : Policy::presets()) text += paragraph(2, p.name, kColumn, described(p.summary, p.source));
  text += "\nPresets that need a file made for the model; `vase policies NAME` tells how\n";
  for (const PolicyInfo& p : file_presets()) text += paragraph(2, p.name, kColumn, described(p.summary, p.source));
  std::string_view kind;
  for (const PartInfo& part : Policy::parts()) {
    if (part.kind != kind) text += "\nParts: " + std::string(part.kind) + "=\n";
    kind = part.kind;
    text += part_paragraphs(part, std::string(part.name));
  }
  return text + "\n`vase policies NAME` explains one of them, or a composition such as\n"
                "'protect=sinks:4,value:25% score=attention select=sample'.\n";
}

json everything_json() {
  json presets = json::array(), of_file = json::array(), parts = json::array();
  for (const PolicyInfo& p : Policy::presets()) presets.push_back(preset_json(p));
  for (const PolicyInfo& p : file_presets()) of_file.push_back(preset_json(p));
  for (const PartInfo& p : Policy::parts()) parts.push_back(part_json(p));
  return {{"presets", presets}, {"file_presets", of_file}, {"parts", parts}};
}

// Where the part's name stands in the value of its key, or npos. In a score it begins a factor, in the rules a piece.
size_t place_of(std::string_view name, std::string_view value) {
  for (size_t at = value.find(name); at != std::string_view::npos; at = value.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || value[at - 1] == ',' || value[at - 1] == '*';
    const bool ends =
        end == value.size() || value[end] == ':' || value[end] == ',' || value[end] == '*' ||
        ((value[end] == '+' || value[end] == '-') && end + 1 < value.size() && std::isdigit(value[end + 1]));
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

// The parts that the value of one key names, in its order. What stands between two of them is the weight of a term.
void find_parts(std::string_view kind, const std::string& value, std::vector<UsedPart>& used) {
  std::vector<std::pair<size_t, PartInfo>> places;
  for (const PartInfo& part : Policy::parts()) {
    const size_t at = part.kind == kind ? place_of(part.name, value) : std::string::npos;
    if (at != std::string::npos) places.emplace_back(at, part);
  }
  std::ranges::sort(places, {}, [](const auto& place) { return place.first; });
  static const std::regex between(R"(,$|([+-]\d+(\.\d+)?(e[+-]?\d+)?)?\*$)");
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t from = places[i].first, to = i + 1 < places.size() ? places[i + 1].first : value.size();
    used.push_back({places[i].second, std::regex_replace(value.substr(from, to - from), between, "")});
  }
}

std::vector<UsedPart> used_parts(const std::string& text) {
  std::vector<UsedPart> used;
  for (const Word& word : split({text, 0}, " ", true)) {
    const size_t equals = word.text.find('=');
    if (equals != std::string_view::npos)
      find_parts(word.text.substr(0, equals), std::string(word.text.substr(equals + 1)), used);
  }
  return used;
}

std::string attention_text(const PolicyNeeds& needs) {
  switch (needs.attention) {
    case AttentionRecord::kNone: return "";
    case AttentionRecord::kWindowSum: return "attention over the newest R queries";
    case AttentionRecord::kWindowSquares: return "squares of the attention over the newest R queries";
    case AttentionRecord::kWindowMax: return "largest attention over the newest R queries";
    case AttentionRecord::kLifetimeSum: return "attention since the token came";
    case AttentionRecord::kRecurrence: return "when attention last came back, and the longest gap";
  }
  return "";
}

// Bytes per slot of what the engine keeps beside rows, and what they are.
std::pair<int, std::vector<std::string>> kept_per_slot(const PolicyNeeds& needs) {
  int bytes = kSlotBytes;
  std::vector<std::string> what = {"position and order"};
  const auto add = [&](bool asked, int size, const std::string& name) {
    if (!asked) return;
    bytes += size;
    what.push_back(name);
  };
  add(needs.attention != AttentionRecord::kNone, needs.attention == AttentionRecord::kRecurrence ? 8 : 4,
      attention_text(needs));
  add(needs.value_range, 4, "range of the value");
  add(needs.norm_product, 4, "lengths of key and value, multiplied");
  add(needs.log_weight, 4, "log-weight");
  return {bytes, what};
}

std::string needs_text(const PolicyNeeds& needs) {
  const auto [bytes, what] = kept_per_slot(needs);
  std::string text =
      std::to_string(bytes) + " B per slot: " + joined(std::vector<std::string_view>(what.begin(), what.end()));
  if (needs.queries > 0) text += "; the newest " + std::to_string(needs.queries) + " queries, 4 B x head_dim each";
  if (needs.rope) text += "; how keys were rotated";
  return text;
}

std::string parts_text(const std::string& composition) {
  std::string text;
  std::string_view kind;
  for (const UsedPart& part : used_parts(composition)) {
    if (part.info.kind != kind) text += "\n" + std::string(part.info.kind) + "\n";
    kind = part.info.kind;
    text += part_paragraphs(part.info, part.text);
  }
  return text;
}

std::string explained(const std::string& name, const Policy& policy, const PolicyInfo* preset) {
  std::string text;
  if (preset) text += paragraph(0, name, kColumn, described(preset->summary, preset->source));
  text += paragraph(0, "composition", kColumn, policy.text());
  if (policy.evicts()) {
    text += paragraph(0, "engine keeps", kColumn, needs_text(policy.needs()));
    text += paragraph(
        0, "smallest budget", kColumn,
        std::to_string(policy.smallest_budget(kBuffer)) + " tokens at --kv-buffer " + std::to_string(kBuffer));
  }
  if (policy.reads()) {
    text += paragraph(0, "engine keeps", kColumn,
                      "every token, and a summary of each " + std::to_string(policy.reader().block()) + " tokens");
  }
  return text + parts_text(policy.text());
}

json parts_json(const std::string& composition) {
  json parts = json::array();
  for (const UsedPart& part : used_parts(composition)) {
    parts.push_back(part_json(part.info));
    parts.back()["text"] = part.text;
  }
  return parts;
}

json explained_json(const Policy& policy, const PolicyInfo* preset) {
  const PolicyNeeds needs = policy.needs();
  json object = {{"composition", policy.text()}, {"evicts", policy.evicts()}, {"reads", policy.reads()}};
  if (preset) object["preset"] = preset_json(*preset);
  if (policy.reads()) object["block"] = policy.reader().block();
  if (policy.evicts()) {
    const auto [bytes, what] = kept_per_slot(needs);
    object["engine_keeps"] = {
        {"bytes_per_slot", bytes}, {"per_slot", what}, {"queries", needs.queries}, {"rope", needs.rope}};
    object["smallest_budget"] = {{"tokens", policy.smallest_budget(kBuffer)}, {"buffer", kBuffer}};
  }
  object["parts"] = parts_json(policy.text());
  return object;
}

// How the file of a policy that needs one comes about.
const char* made_by(std::string_view name) {
  return name == "triattention" ? "`vase calibrate triattention --model MODEL --text TEXT --out FILE`"
                                : "`vase capture`, then scripts/distil_gates.py";
}

// A policy that needs a file cannot be parsed without it; its parts are explained all the same.
std::string file_preset_text(const PolicyInfo& preset) {
  return paragraph(0, preset.name, kColumn, described(preset.summary, preset.source)) +
         paragraph(0, "composition", kColumn, preset.text) +
         paragraph(0, "FILE", kColumn, std::string("is made by ") + made_by(preset.name)) + parts_text(preset.text);
}

json file_preset_json(const PolicyInfo& preset) {
  return {{"preset", preset_json(preset)}, {"composition", preset.text}, {"parts", parts_json(preset.text)}};
}

[[noreturn]] void fail_unknown_choice(const std::string& name) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& p : Policy::presets()) names.push_back(p.name);
  for (const PolicyInfo& p : file_presets()) names.push_back(p.name);
  for (const PartInfo& p : Policy::parts()) names.push_back(p.name);
  throw Error(ErrorCode::kUsage, "unknown policy or part " + vase::quoted(name) + "; did you mean '" +
                                     std::string(nearest(name, names)) + "'? `vase policies` lists them");
}

// A preset or a part, or both: a name may stand for several.
void show_name(const std::string& name, bool as_json) {
  const auto& presets = Policy::presets();
  const auto preset = std::ranges::find(presets, name, &PolicyInfo::name);
  std::vector<PartInfo> parts;
  for (const PartInfo& part : Policy::parts()) {
    if (part.name == name) parts.push_back(part);
  }
  const PolicyInfo* of_file = find_file_preset(name);
  if (preset == presets.end() && parts.empty() && !of_file) fail_unknown_choice(name);
  std::string text = of_file ? file_preset_text(*of_file) : "";
  json object = of_file ? file_preset_json(*of_file) : json::object();
  if (preset != presets.end()) object = explained_json(Policy::parse(name), &*preset);
  if (preset != presets.end()) text += explained(name, Policy::parse(name), &*preset);
  for (const PartInfo& part : parts) {
    text += (text.empty() ? "" : "\n") + std::string("Part: ") + std::string(part.kind) + "=\n" +
            part_paragraphs(part, name);
    object["part"].push_back(part_json(part));
  }
  as_json ? print_json(object, 2) : write_output(text);
}

}  // namespace

int policies_command(const Arguments& arguments) {
  std::vector<std::string> words;
  bool as_json = false;
  CLI::App app("Lists presets and parts of policies, or explains one of them or a composition.", "policies");
  app.add_option("name", words, "a preset, a part, or a composition such as 'score=attention select=sample'")
      ->type_name("");
  app.add_flag("--json", as_json, "print JSON");
  if (!parse(app, arguments)) return kExitOk;
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  if (words.empty()) {
    as_json ? print_json(everything_json(), 2) : write_output(everything());
  } else if (name.find_first_of(" =") == std::string::npos) {
    show_name(name, as_json);
  } else {
    const Policy policy = Policy::parse(name);
    as_json ? print_json(explained_json(policy, nullptr), 2) : write_output(explained(name, policy, nullptr));
  }
  return kExitOk;
}

}  // namespace vase::cli
