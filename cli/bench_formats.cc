#include "bench_formats.h"

#include <algorithm>
#include <cmath>

#include "output.h"
#include "vase/options.h"

namespace vase::cli {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<ordered_json>;

std::string dump(const ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

std::string number(const ordered_json& value, int digits) {
  return value.is_null() ? "-" : formatted("%.*f", digits, value.get<double>());
}

// "12.3 (11.9 - 12.8)"
std::string with_range(const ordered_json& row, const std::string& field, int digits) {
  if (row[field].is_null()) return "-";
  return number(row[field], digits) + " (" + number(row[field + "_low"], digits) + " - " +
         number(row[field + "_high"], digits) + ")";
}

// Three digits that matter.
std::string milliseconds(const ordered_json& value) {
  if (value.is_null()) return "-";
  const double ms = value.get<double>();
  return formatted("%.*f", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

std::string text(const ordered_json& row, const char* field) { return row[field].get<std::string>(); }

std::string test(const ordered_json& row) {
  const bool other_chunk = row["chunk"] != EngineOptions().chunk && text(row, "test").starts_with("pp");
  return text(row, "test") + (other_chunk ? " by " + dump(row["chunk"]) : "") +
         (row["depth"] > 0 ? " @ d" + dump(row["depth"]) : "");
}

std::string kv_type(const ordered_json& row) {
  const std::string key = text(row, "key_type"), value = text(row, "value_type");
  return key == value ? key : key + "," + value;
}

std::string policy(const ordered_json& row) {
  return text(row, "policy_name") + (row["products"] == "ggml" ? ", ggml's products" : "");
}

std::string batch(const ordered_json& row) { return row["batch"] == 0 ? "none fits" : dump(row["batch"]); }

std::string token_times(const ordered_json& row) {
  if (row["token_ms_p50"].is_null()) return "-";
  std::string all;
  for (const char* field : {"token_ms_p50", "token_ms_p90", "token_ms_p99", "token_ms_max"}) {
    all += (all.empty() ? "" : " / ") + milliseconds(row[field]);
  }
  return all;
}

std::string evictions(const ordered_json& row) {
  if (row["eviction_percent"].is_null()) return "-";
  return number(row["eviction_percent"], 2) + " (" + number(row["scoring_percent"], 2) + " + " +
         number(row["compaction_percent"], 2) + ")";
}

// "1024 of 4096 (0.25)"
std::string kept(const ordered_json& row) {
  if (row["kept_fraction"].is_null()) return "-";
  const int64_t seen = row["tokens_seen"], budget = row["budget"];
  return std::to_string(std::min(seen, budget)) + " of " + std::to_string(seen) + " (" +
         number(row["kept_fraction"], 2) + ")";
}

std::string prediction(const ordered_json& row) {
  if (row["predicted_tokens_per_s"].is_null()) return "-";
  return number(row["predicted_tokens_per_s"], 2) +
         formatted(" (%+.0f %%)", row["prediction_error_percent"].get<double>());
}

struct Column {
  const char* title;
  std::string (*cell)(const ordered_json& row);
  const char* needs = nullptr;  // field: when it is null in the first row the column is left out
};

const Column kColumns[] = {
    {"model", [](const ordered_json& r) { return text(r, "model") + " " + text(r, "fingerprint"); }},
    {"threads", [](const ordered_json& r) { return dump(r["threads"]); }},
    {"KV type", kv_type},
    {"batch", batch},
    {"policy", policy},
    {"budget", [](const ordered_json& r) { return dump(r["budget"]); }},
    {"test", test},
    {"tokens/s", [](const ordered_json& r) { return with_range(r, "tokens_per_s", 2); }},
    {"libllama flash", [](const ordered_json& r) { return with_range(r, "peer_flash_tokens_per_s", 2); },
     "peer_flash_tokens_per_s"},
    {"libllama plain", [](const ordered_json& r) { return with_range(r, "peer_plain_tokens_per_s", 2); },
     "peer_plain_tokens_per_s"},
    {"times the faster", [](const ordered_json& r) { return with_range(r, "ratio_vs_peer", 2); },
     "ratio_vs_peer"},
    {"predicted (error)", prediction, "calibration"},
    {"of read limit", [](const ordered_json& r) { return with_range(r, "limit_fraction", 2); }},
    {"read GB/s", [](const ordered_json& r) { return with_range(r, "read_gb_per_s", 1); }},
    {"first token ms", [](const ordered_json& r) { return milliseconds(r["first_token_ms"]); }},
    {"token ms p50 / p90 / p99 / max", token_times},
    {"worst / median", [](const ordered_json& r) { return number(r["worst_over_median"], 2); }},
    {"eviction % (scoring + compaction)", evictions},
    {"kept at the end", kept},
    {"KV MiB", [](const ordered_json& r) { return number(r["kv_mib"], 1); }},
    {"weights MiB", [](const ordered_json& r) { return number(r["weights_mib"], 1); }},
    {"of MiB", [](const ordered_json& r) { return number(r["memory_limit_mib"], 0); }, "memory_limit_mib"},
    {"peak MiB", [](const ordered_json& r) { return number(r["peak_resident_mib"], 0); }},
    {"J/token", [](const ordered_json& r) { return with_range(r, "joules_per_token", 3); },
     "joules_per_token"},
    {"machine", [](const ordered_json& r) { return text(r, "cpu") + ", " + text(r, "simd"); }},
    {"build", [](const ordered_json& r) { return text(r, "build") + ", " + text(r, "compiler"); }},
};

std::string markdown(const Rows& rows, bool incomplete) {
  std::string note = incomplete ? "incomplete: interrupted\n" : "";
  if (rows.empty()) return note;
  const auto absent = [&](const Column& column) {
    return column.needs && rows.front()[column.needs].is_null();
  };
  std::string table = "Median (lowest - highest) of " + dump(rows.front()["repeats"]) + " repeats.\n\n|",
              rule = "\n|";
  for (const Column& column : kColumns) {
    if (absent(column)) continue;
    table += formatted(" %s |", column.title);
    rule += "---|";
  }
  table += rule + "\n";
  for (const ordered_json& row : rows) {
    table += "|";
    for (const Column& column : kColumns) {
      if (!absent(column)) table += " " + column.cell(row) + " |";
    }
    table += "\n";
  }
  return table + (note.empty() ? "" : "\n" + note);
}

std::string csv_cell(const ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_array()) {
    std::string all;
    for (const ordered_json& one : value) all += (all.empty() ? "" : " ") + dump(one);
    return all;
  }
  if (!value.is_string()) return dump(value);
  const std::string word = value.get<std::string>();
  if (word.find_first_of(",\"\n\r") == std::string::npos) return word;
  std::string quoted = "\"";
  for (const char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv(const Rows& rows) {
  std::string lines;
  const auto nested = [](const std::string& field) { return field == "memory" || field == "calibration"; };
  const auto add = [&](const ordered_json& row, const auto& cell) {
    const char* comma = "";
    for (const auto& [field, value] : row.items()) {
      if (nested(field)) continue;
      lines += comma + cell(field, value);
      comma = ",";
    }
    lines += "\n";
  };
  if (!rows.empty()) add(rows.front(), [](const std::string& field, const ordered_json&) { return field; });
  for (const ordered_json& row : rows) {
    add(row, [](const std::string&, const ordered_json& value) { return csv_cell(value); });
  }
  return lines;
}

std::string jsonl(const Rows& rows) {
  std::string lines;
  for (const ordered_json& row : rows) lines += dump(row) + "\n";
  return lines;
}

// For scripts that ask for one number.
ordered_json common_fields(Rows rows) {
  const auto about_prompts = [](const ordered_json& row) { return text(row, "test").starts_with("pp"); };
  if (!std::ranges::all_of(rows, about_prompts)) std::erase_if(rows, about_prompts);
  ordered_json common = ordered_json::object();
  if (rows.empty()) return common;
  for (const auto& [field, value] : rows.front().items()) {
    if (std::ranges::all_of(rows, [&](const ordered_json& row) { return row[field] == value; }))
      common[field] = value;
  }
  return common;
}

std::string whole_json(const Rows& rows, bool incomplete) {
  ordered_json report = common_fields(rows);
  report["incomplete"] = incomplete;
  report["rows"] = rows;
  return dump(report, 2) + "\n";
}

}  // namespace

std::string bench_report(BenchFormat format, const Rows& rows, bool incomplete) {
  switch (format) {
    case BenchFormat::kMarkdown:
      return markdown(rows, incomplete);
    case BenchFormat::kCsv:
      return csv(rows);
    case BenchFormat::kJson:
      return whole_json(rows, incomplete);
    case BenchFormat::kJsonl:
      return jsonl(rows);
  }
  return "";
}

}  // namespace vase::cli
