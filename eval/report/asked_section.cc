#include <algorithm>
#include <ctime>
#include <functional>
#include <set>

#include "eval/report/sections.h"
#include "eval/report/setting.h"
#include "eval/run/config.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

constexpr size_t kColumns = 3;  // folders beside each other in a table

struct Fact {
  const char* name;
  std::function<std::string(const ResultSet&)> value;
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

Fact plain(const char* name, const char* pointer) {
  return {name, [pointer](const ResultSet& set) { return setting(set, pointer); }};
}

std::vector<Fact> facts() {
  return {
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
      plain("buffer (newest tokens kept)", "/cache/buffer"),
      plain("period between evictions (0: the buffer)", "/cache/period"),
      plain("rows of keys", "/cache/key_type"),
      plain("rows of values", "/cache/value_type"),
      plain("prompt", "/cache/prefill"),
      plain("trigger", "/cache/trigger"),
      plain("positions", "/cache/positions"),
      plain("budgets of layers", "/cache/layers"),
      plain("layers take turns", "/cache/stagger"),
      plain("context limit (0: none)", "/cache/context"),
      plain("attention", "path"),
      {"hash of all this", [](const ResultSet& s) { return s.config["hash"].get<std::string>(); }},
      {"command", commands},
  };
}

Table facts_table(std::span<const ResultSet> sets) {
  Table table{.title = "Settings", .columns = {"setting"}, .rows = {}, .note = "", .names = 1 + sets.size()};
  for (const ResultSet& set : sets) table.columns.push_back(set.name);
  for (const Fact& fact : facts()) {
    std::vector<std::string> cells = {fact.name};
    for (const ResultSet& set : sets) cells.push_back(fact.value(set));
    if (std::ranges::all_of(cells.begin() + 1, cells.end(),
                            [](const std::string& cell) { return cell == "-"; }))
      continue;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The canonical text of each policy, and hashes of files that it names.
Table policies_table(const std::vector<ResultSet>& sets) {
  Table table{.title = "Policies",
              .columns = {"policy", "its parts", "hashes of its files"},
              .rows = {},
              .note = "",
              .names = 3};
  std::set<std::vector<std::string>> taken;
  for (const ResultSet& set : sets) {
    const size_t count = set.config["config"]["cells"].size();
    for (size_t i = 0; i < count; ++i) {
      const std::string at = "/cells/" + std::to_string(i);
      const std::vector<std::string> row = {setting(set, at + "/policy"), setting(set, at + "/parts"),
                                            setting(set, at + "/files")};
      if (taken.insert(row).second) table.rows.push_back(row);
    }
  }
  return table;
}

Table kl_table(const std::vector<KlFile>& files) {
  Table table{.title = "Files of vase eval kl",
              .columns = {"file", "model", "vase", "eviction seeds", "texts: tokens"},
              .rows = {},
              .note =
                  "A line of these files does not hold the buffer, the row types and the prefill: their "
                  "defaults, unless the command that made the file says otherwise.",
              .names = 5};
  for (const KlFile& file : files) {
    std::set<std::string> models, builds, texts;
    std::set<uint64_t> seeds;
    for (const KlLine& line : file.lines) {
      models.insert(line.model);
      builds.insert(line.build);
      texts.insert(line.text + ": " + std::to_string(line.tokens));
      if (line.budget > 0) seeds.insert(line.evict_seed);
    }
    const auto listed = [](const auto& set, const auto& shown) {
      std::string text;
      for (const auto& one : set) text += (text.empty() ? "" : ", ") + shown(one);
      return text;
    };
    const auto same = [](const std::string& text) { return text; };
    table.rows.push_back({file.name, listed(models, same), listed(builds, same),
                          listed(seeds, [](uint64_t seed) { return std::to_string(seed); }),
                          listed(texts, same)});
  }
  return table;
}

}  // namespace

Section asked_section(const Material& material) {
  Section section{"What was asked", {}};
  const std::span<const ResultSet> sets = material.input.sets;
  for (size_t i = 0; i < sets.size(); i += kColumns) {
    section.blocks.push_back(facts_table(sets.subspan(i, std::min(kColumns, sets.size() - i))));
  }
  if (!sets.empty()) section.blocks.push_back(policies_table(material.input.sets));
  if (!material.input.kl.empty()) section.blocks.push_back(kl_table(material.input.kl));
  return section;
}

}  // namespace vase::eval::report
