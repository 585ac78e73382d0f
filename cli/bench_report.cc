#include "bench_report.h"

#include <algorithm>
#include <ctime>
#include <fstream>

#include "commands.h"
#include "json_output.h"
#include "output.h"
#include "vase/model.h"
#include "vase/simd.h"

namespace vase::cli {
namespace {

using bench::median;

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string number(double value, int digits) { return formatted("%.*f", digits, value); }

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

const char* type_name(RowType type) { return type == RowType::kF16 ? "f16" : "f32"; }

double kv_mib(const MemoryPlan& memory) { return static_cast<double>(memory.bytes()) / (1 << 20); }

// "12.3 (11.9 - 12.8)"
std::string with_range(const std::vector<double>& values, int digits) {
  if (values.empty()) return "-";
  const auto [low, high] = std::ranges::minmax(values);
  return number(median(values), digits) + " (" + number(low, digits) + " - " + number(high, digits) + ")";
}

// JSON has no number for what was not measured.
nlohmann::json median_or_null(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return median(values);
}

}  // namespace

std::string bench_table(const bench::DecodeBenchOptions& options,
                        const std::vector<bench::DecodeBenchRow>& rows, bool incomplete) {
  std::string table =
      "CPU: " + cpu_model() + ", " + simd_target() + ", " + std::to_string(rows.front().threads) +
      " threads\nGeneration after " + std::to_string(options.depth) + " tokens, batch " +
      std::to_string(options.engine.sequences) + ", " + std::to_string(options.tokens) + " tokens x " +
      std::to_string(options.repeats) + " repeats: median (lowest - highest)\n" +
      (incomplete ? "incomplete: interrupted in repeat " + std::to_string(rows.back().tokens_per_s.size() + 1) + "\n"
                  : "") +
      "\n"
      "| policy | slots | KV MiB | tokens/s | libllama flash | libllama plain | over the faster | "
      "read GB/s |\n|---|---|---|---|---|---|---|---|\n";
  for (const bench::DecodeBenchRow& row : rows) {
    table += "| " + row.policy + " | " + std::to_string(row.memory.capacity) + " | " +
             number(kv_mib(row.memory), 1) + " | " + with_range(row.tokens_per_s, 2) + " | " +
             with_range(row.peer_flash, 2) + " | " + with_range(row.peer_plain, 2) + " | " +
             with_range(row.ratios, 2) + " | " + with_range(row.read_gb_per_s, 1) + " |\n";
  }
  return table;
}

nlohmann::json bench_json(const bench::DecodeBenchOptions& options,
                          const std::vector<bench::DecodeBenchRow>& rows, bool incomplete) {
  nlohmann::json list = nlohmann::json::array();
  for (const bench::DecodeBenchRow& row : rows) {
    nlohmann::json entry = {{"policy", row.policy},
                            {"capacity", row.memory.capacity},
                            {"kv_mib", kv_mib(row.memory)},
                            {"memory", memory_json(row.memory)},
                            {"tokens_per_s", median_or_null(row.tokens_per_s)},
                            {"tokens_per_s_repeats", row.tokens_per_s},
                            {"read_gb_per_s", median_or_null(row.read_gb_per_s)}};
    if (options.peer_llama) {
      entry["ratio_vs_peer"] = median(row.ratios);
      entry["ratio_vs_peer_repeats"] = row.ratios;
      entry["peer_flash_tokens_per_s"] = row.peer_flash;
      entry["peer_plain_tokens_per_s"] = row.peer_plain;
    }
    list.push_back(std::move(entry));
  }
  nlohmann::json report = {{"date", now_utc()},
                           {"build", build_id()},
                           {"cpu", cpu_model()},
                           {"simd", simd_target()},
                           {"threads", rows.front().threads},
                           {"path", options.engine.path == AttentionPath::kFused ? "fused" : "reference"},
                           {"key_type", type_name(options.cache.key_type)},
                           {"value_type", type_name(options.cache.value_type)},
                           {"model", options.model_path},
                           {"fingerprint", read_model_shape(options.model_path).fingerprint},
                           {"depth", options.depth},
                           {"batch", options.engine.sequences},
                           {"tokens", options.tokens},
                           {"repeats", options.repeats},
                           {"incomplete", incomplete},
                           {"rows", list}};
  // A single row's figures stand at the top as well, for scripts that ask for one number.
  if (rows.size() == 1) {
    report["tokens_per_s"] = list[0]["tokens_per_s"];
    if (options.peer_llama) report["ratio_vs_peer"] = list[0]["ratio_vs_peer"];
  }
  return report;
}

}  // namespace vase::cli
