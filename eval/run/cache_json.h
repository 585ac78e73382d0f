// What a cache holds, as JSON: in the configuration of a run and in preset files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "vase/options.h"

namespace vase::eval {

// The number with the fewest digits that is this float: 0.6 and not 0.6000000238418579.
double shortest(float value);

// Everything but the budget, the context and what a run sets for its texts. key_type is "auto" for types that
// are left to megabytes.
nlohmann::json cache_json(const CacheOptions& cache);

// The other way round, for an object with these fields. Throws Error(kCorrupt): "<where>: ..." for fields
// that are missing, unknown or not what they should be.
CacheOptions read_cache(const nlohmann::json& object, const std::string& where);

// A policy's canonical text as "parts", and policy_files_json() as "files" where it is not empty.
nlohmann::json parts_json(const std::string& policy);

// The files that a policy's text names, for parts that were made for one model: {"stats": hash of the
// content}. Empty for most. The parser has read them, so they are there.
nlohmann::json policy_files_json(std::string_view policy);

}  // namespace vase::eval
