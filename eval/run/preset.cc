#include "eval/run/preset.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "eval/beginning_of.h"
#include "eval/json_text.h"
#include "eval/or_null.h"
#include "eval/printable.h"
#include "eval/run/cache_json.h"
#include "eval/run/json_fields.h"
#include "vase/error.h"
#include "vase/memory.h"
#include "vase/policy.h"

namespace vase::eval {
namespace {

using nlohmann::json;

constexpr const char* kKind = "vase-preset";
// Grows when an old program would misread a new file, and when a new program would make another cache of an old one than
// what was measured: a type of rows with other numbers, a policy's text that means something else. 2: q4_0 holds mixed
// channels (docs/adr/0015-mixed-channels.md).
constexpr int kVersion = 2;
constexpr int kMostBudget = 1 << 24, kMost = 1 << 30;
constexpr size_t kMostBytes = 1 << 20;  // of a file that may be one
constexpr double kMostKl = 1e6, kMostMib = 1e9;
constexpr const char* kAdvice = "; write it anew with `vase tune --kv-budget-mb X --preset-out FILE`";

json measured_json(const Preset::Measured& m) {
  return {{"kl_mean", m.kl},
          {"kl_error", or_null(m.kl_error)},
          {"noise_floor", m.noise_floor},
          {"texts", m.texts},
          {"seeds", m.seeds},
          {"positions", m.positions},
          {"budget_mb", m.budget_mib},
          {"bytes", m.bytes},
          {"threads", m.threads}};
}

Preset::Measured read_measured(const json& object, const std::string& where) {
  JsonFields fields(object, where);
  Preset::Measured m;
  m.kl = fields.number("kl_mean", 0, kMostKl);
  if (!fields.any("kl_error").is_null()) m.kl_error = fields.number("kl_error", 0, kMostKl);
  m.noise_floor = fields.number("noise_floor", 0, kMostKl);
  m.texts = static_cast<int>(fields.integer("texts", 1, kMost));
  m.seeds = static_cast<int>(fields.integer("seeds", 1, kMost));
  m.positions = fields.integer("positions", 1, INT64_MAX);
  m.budget_mib = fields.number("budget_mb", 0, kMostMib);
  m.bytes = static_cast<uint64_t>(fields.integer("bytes", 1, INT64_MAX));
  m.threads = static_cast<int>(fields.integer("threads", 1, kMost));
  fields.finish();
  return m;
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string content(kMostBytes + 1, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!in && !in.eof()) throw Error(ErrorCode::kNotFound, "cannot read the preset file " + path);
  content.resize(static_cast<size_t>(in.gcount()));
  return content;
}

// The object, of a version that this program reads.
json read_object(const std::string& path) {
  const std::string content = read_all(path);
  if (content.size() > kMostBytes)
    throw Error(ErrorCode::kCorrupt, path + " has more than the " + std::to_string(kMostBytes) +
                                         " bytes that a preset file may have" + kAdvice);
  const json object = parse_json(content);
  if (object.is_discarded())
    throw Error(ErrorCode::kCorrupt, path + " is not a whole preset file: it is torn, or no JSON" + kAdvice);
  if (!object.is_object() || !object.contains("format") || object["format"] != kKind)
    throw Error(ErrorCode::kCorrupt,
                path + " is not a preset file: it has no \"format\": \"" + kKind + "\"" + kAdvice);
  JsonFields fields(object, path);
  const int64_t version = fields.integer("version", 0, INT64_MAX);
  if (version == kVersion) return object;
  throw Error(ErrorCode::kUnsupported, path + " is a preset file of version " + std::to_string(version) +
                                           ", and this program reads version " + std::to_string(kVersion) +
                                           kAdvice + ", or use the program that wrote it");
}

// The budget stands among the cache's fields.
CacheOptions read_cache_with_budget(json object, const std::string& where) {
  JsonFields fields(object, where);
  const auto budget = static_cast<int>(fields.integer("budget", 1, kMostBudget));
  object.erase("budget");
  CacheOptions cache = read_cache(object, where);
  cache.budget = budget;
  return cache;
}

// Tables call the policy by it, and compare the others with the one that is called `full`.
void check_name(const Preset& preset, const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kCorrupt, path + ": the field 'name' is '" + beginning_of(preset.name) + "'" + why + kAdvice);
  };
  if (preset.name.empty() || printable(preset.name) != preset.name)
    fail("; allowed: letters, digits and what else a policy's text has, without control characters");
  const auto same = std::ranges::find(Policy::presets(), preset.name, &PolicyInfo::name);
  if (same == Policy::presets().end()) return;
  if (Policy::parse(preset.name).text() != Policy::parse(preset.policy).text())
    fail(", and its policy '" + preset.policy + "' is not the one of that name");
}

// The policy in the file is what this program makes of it, or the preset would be another one here.
void check_policy(const Preset& preset, const json& files, const std::string& path) {
  Policy policy;
  try {
    policy = Policy::parse(preset.policy);
    policy.validate(preset.cache.budget, preset.cache.buffer);
  } catch (const Error& e) {
    throw Error(e.code(),
                path + ": the policy '" + preset.policy + "' does not work here: " + e.what() + kAdvice);
  }
  if (!policy.evicts())
    throw Error(ErrorCode::kCorrupt,
                path + ": the policy '" + preset.policy + "' keeps every token" + kAdvice);
  if (policy_files_json(preset.policy) == files) return;
  throw Error(ErrorCode::kUsage,
              path + ": a file that its policy names has changed since: '" + preset.policy + "'" + kAdvice);
}

Preset read_fields(const json& object, const std::string& path) {
  JsonFields fields(object, path);
  fields.any("format");
  fields.any("version");
  Preset preset;
  preset.model = fields.text("model");
  preset.model_name = fields.text("model_name");
  preset.build = fields.text("build");
  preset.name = fields.text("name");
  preset.policy = fields.text("policy");
  const json files = fields.object("files");
  preset.cache = read_cache_with_budget(fields.object("cache"), path + ", cache");
  preset.measured = read_measured(fields.object("measured"), path + ", measured");
  fields.finish();
  check_policy(preset, files, path);
  check_name(preset, path);
  return preset;
}

}  // namespace

std::string preset_text(const Preset& preset) {
  json cache = cache_json(preset.cache);
  cache["budget"] = preset.cache.budget;
  const json object = {{"format", kKind},         {"version", kVersion},
                       {"model", preset.model},   {"model_name", preset.model_name},
                       {"build", preset.build},   {"name", preset.name},
                       {"policy", preset.policy}, {"files", policy_files_json(preset.policy)},
                       {"cache", cache},          {"measured", measured_json(preset.measured)}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Preset read_preset(const std::string& path) {
  try {
    return read_fields(read_object(path), path);
  } catch (const Error& e) {
    const std::string message = e.what();
    const bool told = e.code() == ErrorCode::kNotFound || message.find(kAdvice) != std::string::npos;
    throw Error(e.code(), told ? message : message + kAdvice);
  }
}

void require_model(const Preset& preset, const ModelShape& shape, const std::string& path) {
  if (preset.model == shape.fingerprint) return;
  throw Error(ErrorCode::kUsage,
              "the preset " + path + " was made for " +
                  (preset.model_name.empty() ? "another model" : "'" + preset.model_name + "'") + " (" +
                  preset.model + "), and this file is " + shape.fingerprint +
                  (shape.name.empty() ? "" : " ('" + shape.name + "')") + kAdvice +
                  " for this model, or give that one");
}

void require_works(const Preset& preset, const ModelShape& shape, const std::string& path) {
  CacheOptions cache = preset.cache;
  if (cache.prefill == Prefill::kDense) cache.max_prompt = 1;  // the run's own, not known yet
  try {
    plan_memory(shape, Policy::parse(preset.policy), cache, {});
  } catch (const Error& e) {
    throw Error(e.code(), path + ": its settings do not go together: " + e.what() + kAdvice);
  }
}

}  // namespace vase::eval
