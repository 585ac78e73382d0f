#include "eval/run/cache_json.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include "eval/run/hash.h"
#include "eval/run/json_fields.h"

namespace vase::eval {
namespace {

using nlohmann::json;

// In the order of the enumerations.
const std::vector<std::string_view> kTriggers = {"general", "parity"}, kPrefills = {"evict", "dense"},
                                    kPositions = {"text", "cache"}, kLayers = {"uniform", "pyramid"};

template <typename Enum>
std::string_view name_of(const std::vector<std::string_view>& names, Enum value) {
  return names.at(static_cast<size_t>(value));
}

std::string_view type_name(const CacheOptions& cache, RowType type) {
  return cache.auto_types ? "auto" : row_type_name(type);
}

RowType read_type(JsonFields& fields, const char* name) {
  std::vector<std::string_view> names;
  for (const RowType type : kCacheTypes) names.push_back(row_type_name(type));
  return kCacheTypes[fields.choice(name, names)];
}

}  // namespace

double shortest(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double same = 0;
  std::from_chars(text, end, same);
  return same;
}

json cache_json(const CacheOptions& c) {
  const bool pyramid = c.layer_budgets == LayerBudgets::kPyramid;
  return {{"buffer", c.buffer},
          {"period", c.period},
          {"key_type", type_name(c, c.key_type)},
          {"value_type", type_name(c, c.value_type)},
          {"prefill", name_of(kPrefills, c.prefill)},
          {"trigger", name_of(kTriggers, c.trigger)},
          {"positions", name_of(kPositions, c.positions)},
          {"layers", name_of(kLayers, c.layer_budgets)},
          {"pyramid_beta", pyramid ? json(shortest(c.pyramid_beta)) : json(nullptr)},
          {"stagger", c.stagger}};
}

CacheOptions read_cache(const json& object, const std::string& where) {
  JsonFields fields(object, where);
  CacheOptions c;
  c.buffer = static_cast<int>(fields.integer("buffer", 1, 65536));
  c.period = static_cast<int>(fields.integer("period", 0, 65536));
  c.key_type = read_type(fields, "key_type");
  c.value_type = read_type(fields, "value_type");
  c.prefill = static_cast<Prefill>(fields.choice("prefill", kPrefills));
  c.trigger = static_cast<Trigger>(fields.choice("trigger", kTriggers));
  c.positions = static_cast<Positions>(fields.choice("positions", kPositions));
  c.layer_budgets = static_cast<LayerBudgets>(fields.choice("layers", kLayers));
  if (c.layer_budgets == LayerBudgets::kPyramid)
    c.pyramid_beta = static_cast<float>(fields.number("pyramid_beta", 1, 1000));
  else
    fields.null("pyramid_beta", "since the field 'layers' is uniform");
  c.stagger = fields.truth("stagger");
  fields.finish();
  return c;
}

json parts_json(const std::string& policy) {
  json parts = {{"parts", policy}};
  if (const json files = policy_files_json(policy); !files.empty()) parts["files"] = files;
  return parts;
}

json policy_files_json(std::string_view policy) {
  json files = json::object();
  for (const std::string_view key : {"gates=", "stats="}) {
    const size_t at = policy.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view path = policy.substr(at + key.size());
    path = path.substr(0, path.find_first_of(", "));
    std::ifstream in(std::string(path), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    files[std::string(key.substr(0, key.size() - 1))] = hex_digits(hash_text(content));
  }
  return files;
}

}  // namespace vase::eval
