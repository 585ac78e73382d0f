#include "bench_row.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "commands.h"
#include "eval/statistics.h"
#include "json_output.h"
#include "output.h"
#include "vase/simd.h"

namespace vase::cli {
namespace {

using bench::Row;
using nlohmann::ordered_json;

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string compiler() {
#ifdef __clang__
  return formatted("clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return formatted("gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// Median, spread, and every repeat; null where nothing was measured.
void add_repeats(ordered_json& json, const std::string& name, const std::vector<double>& values) {
  json[name] = json[name + "_low"] = json[name + "_high"] = nullptr;
  if (!values.empty()) {
    const auto [low, high] = std::ranges::minmax(values);
    json[name] = eval::median(values);
    json[name + "_low"] = low;
    json[name + "_high"] = high;
  }
  json[name + "_repeats"] = values;
}

void add_settings(ordered_json& json, const Row& row) {
  const std::string& types = row.what.kv_type;
  const size_t comma = types.find(',');
  json["test"] = row.what.test.name();
  json["depth"] = row.what.depth;
  json["batch"] = row.what.batch;
  json["threads"] = row.threads;
  json["chunk"] = row.what.chunk;
  json["policy_name"] = row.what.name;
  json["policy"] = row.what.policy;
  json["budget"] = row.memory.budget;
  json["buffer"] = row.memory.buffer;
  json["capacity"] = row.memory.capacity;
  json["staggered"] = row.staggered;
  json["key_type"] = types.substr(0, comma);
  json["value_type"] = comma == std::string::npos ? types : types.substr(comma + 1);
  json["products"] = row.what.layout == model::WeightLayout::kOwn ? "own" : "ggml";
  json["repeats"] = row.repeats;
  json["incomplete"] = row.incomplete();
}

void add_speed(ordered_json& json, const Row& row) {
  add_repeats(json, "tokens_per_s", row.tokens_per_s);
  add_repeats(json, "peer_flash_tokens_per_s", row.peer_flash);
  add_repeats(json, "peer_plain_tokens_per_s", row.peer_plain);
  add_repeats(json, "ratio_vs_peer", row.ratios);
  add_repeats(json, "read_gb_per_s", row.read_gb_per_s);
  add_repeats(json, "limit_fraction", row.limit_fractions);
  add_repeats(json, "joules_per_token", row.joules_per_token);
}

void add_times(ordered_json& json, const Row& row) {
  json["first_token_ms"] = nullptr;
  if (!row.first_token_s.empty()) json["first_token_ms"] = eval::median(row.first_token_s) * 1e3;
  const bool steps = !row.step_s.empty();
  const auto step_ms = [&](double share) -> ordered_json {
    if (!steps) return nullptr;
    return eval::quantile(row.step_s, share) * 1e3;
  };
  json["token_ms_p50"] = step_ms(0.5);
  json["token_ms_p90"] = step_ms(0.9);
  json["token_ms_p99"] = step_ms(0.99);
  json["token_ms_max"] = step_ms(1);
  json["worst_over_median"] = steps ? ordered_json(bench::worst_over_median(row)) : nullptr;
  const std::optional<double> evicting = bench::evicting_over_other(row);
  json["evicting_over_other"] = evicting ? ordered_json(*evicting) : nullptr;
}

void add_evictions(ordered_json& json, const Row& row) {
  const auto percent = [&](double seconds) {
    return row.timed_s > 0 ? ordered_json(100 * seconds / row.timed_s) : nullptr;
  };
  json["evictions"] = row.evictions;
  json["eviction_percent"] = percent(row.scoring_s + row.compaction_s);
  json["scoring_percent"] = percent(row.scoring_s);
  json["compaction_percent"] = percent(row.compaction_s);
  json["tokens_seen"] = row.seen;
  json["kept_fraction"] = row.seen > 0 ? ordered_json(row.kept_fraction()) : nullptr;
}

void add_memory(ordered_json& json, const Row& row) {
  json["kv_mib"] = mib(row.memory.bytes());
  json["weights_mib"] = mib(row.weight_bytes);
  json["compute_mib"] = mib(row.compute_bytes);
  json["memory_limit_mib"] = row.memory_limit > 0 ? ordered_json(mib(row.memory_limit)) : nullptr;
  json["peak_resident_mib"] = row.peak_memory > 0 ? ordered_json(mib(row.peak_memory)) : nullptr;
  json["memory"] = memory_json(row.memory);
}

// calibration is null when no prediction was asked for, and empty when there is none for this row.
void add_prediction(ordered_json& json, const Row& row, bool asked) {
  const bench::Prediction prediction = row.prediction.value_or(bench::Prediction());
  std::vector<double> errors, one, batch, column;
  for (size_t i = 0; i < prediction.tokens_per_s.size(); ++i) {
    const bench::Calibration& c = prediction.calibrations[i];
    errors.push_back(100 * (prediction.tokens_per_s[i] / row.tokens_per_s[i] - 1));
    one.push_back(c.one_s * 1e3);
    batch.push_back(c.batch_s * 1e3);
    column.push_back(bench::CostModel(row.step_bytes, c).column_s() * 1e3);
  }
  add_repeats(json, "predicted_tokens_per_s", prediction.tokens_per_s);
  json["prediction_error_percent"] = errors.empty() ? nullptr : ordered_json(eval::median(errors));
  json["calibration"] = nullptr;
  if (asked) json["calibration"] = ordered_json::object();
  if (errors.empty()) return;
  json["calibration"] = {{"one_ms", eval::median(one)},           {"batch_ms", eval::median(batch)},
                         {"column_ms", eval::median(column)},     {"slots", prediction.slots},
                         {"weight_bytes", row.step_bytes.weights}, {"slot_bytes", row.step_bytes.slot}};
}

}  // namespace

BenchRecord::BenchRecord(const bench::BenchOptions& options) : predict_(options.predict) {
  const std::string& path = options.model_path;
  const ModelShape shape = read_model_shape(path);
  facts_ = {{"date", now_utc()},
            {"cpu", cpu_model()},
            {"simd", simd_target()},
            {"build", build_id()},
            {"compiler", compiler()},
            {"model", shape.name.empty() ? std::filesystem::path(path).filename().string() : shape.name},
            {"fingerprint", shape.fingerprint},
            {"file_mib", mib(shape.file_bytes)},
            {"path", options.engine.path == AttentionPath::kFused ? "fused" : "reference"}};
}

ordered_json BenchRecord::row(const Row& row) const {
  ordered_json json = facts_;
  add_settings(json, row);
  add_speed(json, row);
  add_times(json, row);
  add_evictions(json, row);
  add_memory(json, row);
  add_prediction(json, row, predict_);
  return json;
}

}  // namespace vase::cli
