#include <algorithm>
#include <ctime>
#include <functional>
#include <set>
#include <utility>

#include "eval/report/sections.h"
#include "eval/report/setting.h"
#include "eval/run/config.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

constexpr size_t kColumns = 3;  // folders beside each other in a table

template <typename Source>
struct Fact {
  const char* name;
  std::function<std::string(const Source&)> value;
};
using Facts = std::vector<Fact<ResultSet>>;
using KlFacts = std::vector<Fact<KlFile>>;

// Of a cache, where a configuration and a line of `vase eval kl` have it.
constexpr std::pair<const char*, const char*> kCache[] = {
    {"buffer (newest tokens kept)", "/cache/buffer"},
    {"period between evictions (0: the buffer)", "/cache/period"},
    {"rows of keys", "/cache/key_type"},
    {"rows of values", "/cache/value_type"},
    {"prompt", "/cache/prefill"},
    {"trigger", "/cache/trigger"},
    {"positions", "/cache/positions"},
    {"budgets of layers", "/cache/layers"},
    {"layers take turns", "/cache/stagger"},
};

// "2026-11-30 10:15"
std::string minute(double unix_time) {
  constexpr double kLast = 253402300799;  // of the year 9999
  if (!(unix_time > 0 && unix_time <= kLast)) return "?";
  const auto seconds = static_cast<std::time_t>(unix_time);
  std::tm parts{};
  char text[32];
  return gmtime_r(&seconds, &parts) && std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts) > 0 ? text
                                                                                                      : "?";
}

std::string when(const ResultSet& set) {
  if (set.results.empty()) return "-";
  const auto begins = [](const Result& r) { return r.timing.start; };
  const auto ends = [](const Result& r) { return r.timing.start + r.timing.seconds; };
  return minute(begins(std::ranges::min(set.results, {}, begins))) + " to " +
         minute(ends(std::ranges::max(set.results, {}, ends))) + " UTC";
}

// "gsm8k: 100 problems, content 0123..., instruction “...”", one of a line for each task.
std::string tasks(const ResultSet& set) {
  std::string text;
  const size_t count = set.config["config"]["tasks"].size();
  for (size_t i = 0; i < count; ++i) {
    const std::string at = "/tasks/" + std::to_string(i);
    text += (i > 0 ? "; " : "") + setting(set, at + "/name") + ": " + setting(set, at + "/problems") +
            " problems, content " + setting(set, at + "/hash") + ", instruction “" +
            setting(set, at + "/instruction") + "”";
  }
  return text;
}

// As a shell reads it as one word.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\n\"'`$\\&|;<>()*?[]{}~#!") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) c == '\'' ? text += "'\\''" : text += c;
  return text + "'";
}

// One behind the other, as a shell reads them.
std::string commands(const ResultSet& set) {
  std::string text;
  for (const json& command : commands_of(set.config)) {
    text += text.empty() ? "vase eval run" : "; vase eval run";
    for (const json& argument : command) {
      if (argument.is_string()) text += " " + shell_word(argument.get<std::string>());
    }
  }
  return text.empty() ? "-" : text;
}

Fact<ResultSet> plain(const char* name, const char* pointer) {
  return {name, [pointer](const ResultSet& set) { return setting(set, pointer); }};
}

Facts facts() {
  Facts all = {
      {"texts",
       [](const ResultSet& s) {
         return std::to_string(s.results.size()) + " of " + std::to_string(s.expected());
       }},
      {"generated", when},
      {"model", [](const ResultSet& s) { return setting(s, "model_name"); }},
      {"fingerprint of the model",
       [](const ResultSet& s) { return is_server(s) ? "-" : setting(s, "model"); }},
      {"server", server_of},
      plain("vase", "build"),
      plain("grader", "grader"),
      {"tasks", tasks},
      plain("system message", "system"),
      {"chat template",
       [](const ResultSet& s) { return setting(s, "raw") == "true" ? "not used" : "the model's own"; }},
      plain("temperature", "/sampling/temperature"),
      plain("top-p", "/sampling/top_p"),
      plain("top-k", "/sampling/top_k"),
      plain("min-p", "/sampling/min_p"),
      plain("repetition penalty", "/sampling/repetition_penalty"),
      plain("most tokens of a text", "max_tokens"),
      plain("stop strings", "stops"),
      plain("repeats that end a loop", "stop_loops"),
      plain("texts per problem", "samples"),
      plain("seed of the texts", "seed"),
      plain("eviction seeds", "seeds"),
      plain("first eviction seed", "evict_seed"),
  };
  for (const auto& [name, pointer] : kCache) all.push_back(plain(name, pointer));
  all.push_back(plain("context limit (0: none)", "/cache/context"));
  all.push_back(plain("attention", "path"));
  all.push_back({"hash of all this", [](const ResultSet& s) { return s.config["hash"].get<std::string>(); }});
  all.push_back({"command", commands});
  return all;
}

// Different values of the lines that are about a policy, in their order.
std::string listed(const KlFile& file, const std::function<std::string(const KlLine&)>& value) {
  std::string text;
  std::set<std::string> taken;
  for (const KlLine& line : file.lines) {
    if (line.budget == 0) continue;
    if (const std::string one = value(line); taken.insert(one).second)
      text += (text.empty() ? "" : ", ") + one;
  }
  return text.empty() ? "-" : text;
}

Fact<KlFile> of_lines(const char* name, std::function<std::string(const KlLine&)> value) {
  return {name, [value = std::move(value)](const KlFile& file) { return listed(file, value); }};
}

KlFacts kl_facts() {
  KlFacts all = {
      of_lines("model", [](const KlLine& line) { return line.model; }),
      of_lines("vase", [](const KlLine& line) { return line.build; }),
      of_lines("eviction seeds", [](const KlLine& line) { return std::to_string(line.evict_seed); }),
      of_lines("texts: tokens",
               [](const KlLine& line) { return line.text + ": " + std::to_string(line.tokens); }),
  };
  for (const auto& [name, pointer] : kCache) {
    all.push_back(of_lines(name, [at = pointer](const KlLine& line) { return setting(line.settings, at); }));
  }
  return all;
}

template <typename Source>
Table facts_table(const char* title, std::span<const Source> sources,
                  const std::vector<Fact<Source>>& facts) {
  Table table{.title = title, .columns = {"setting"}, .rows = {}, .note = "", .names = 1 + sources.size()};
  for (const Source& source : sources) table.columns.push_back(source.name);
  for (const Fact<Source>& fact : facts) {
    std::vector<std::string> cells = {fact.name};
    for (const Source& source : sources) cells.push_back(fact.value(source));
    if (std::ranges::all_of(cells.begin() + 1, cells.end(),
                            [](const std::string& cell) { return cell == "-"; }))
      continue;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

template <typename Source>
void add_facts(Section& section, const char* title, std::span<const Source> sources,
               const std::vector<Fact<Source>>& facts) {
  for (size_t i = 0; i < sources.size(); i += kColumns)
    section.blocks.push_back(
        facts_table(title, sources.subspan(i, std::min(kColumns, sources.size() - i)), facts));
}

// The canonical text of each policy, and hashes of files that it names.
Table policies_table(const ReportInput& input) {
  Table table{.title = "Policies",
              .columns = {"policy", "its parts", "hashes of its files"},
              .rows = {},
              .note = "",
              .names = 3};
  std::set<std::vector<std::string>> taken;
  const auto add = [&](const std::string& policy, const json& cell) {
    const std::vector<std::string> row = {policy, setting(cell, "parts"), setting(cell, "files")};
    if (taken.insert(row).second) table.rows.push_back(row);
  };
  for (const ResultSet& set : input.sets) {
    for (const json& cell : set.config["config"]["cells"]) add(setting(cell, "policy"), cell);
  }
  for (const KlFile& file : input.kl) {
    for (const KlLine& line : file.lines) {
      if (line.budget > 0 && line.settings.contains("parts")) add(line.policy, line.settings);
    }
  }
  return table;
}

}  // namespace

Section asked_section(const Material& material) {
  Section section{"What was asked", {}};
  const ReportInput& input = material.input;
  add_facts<ResultSet>(section, "Settings", input.sets, facts());
  add_facts<KlFile>(section, "Settings of vase eval kl", input.kl, kl_facts());
  if (Table policies = policies_table(input); !policies.rows.empty())
    section.blocks.push_back(std::move(policies));
  return section;
}

}  // namespace vase::eval::report
