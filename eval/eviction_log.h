// Logs of evictions: JSON lines, one per eviction and head, as `vase run --log-evictions` writes them.
#pragma once

#include <string>
#include <vector>

#include "vase/engine.h"

namespace vase::eval {

// {"layer":0,"kv_head":0,"eviction":0,"seen":320,"candidates":256,"buffer":64,"prompt_tokens":12,"kept":[...],
//  "value_similarity":0.21}
std::string eviction_log_line(const EvictionRecord& record);

// Throws Error: kNotFound; kCorrupt with the line, for what such a log cannot hold; kCorrupt for an empty log.
std::vector<EvictionRecord> read_eviction_log(const std::string& path);

}  // namespace vase::eval
