// What is behind the handles of vase.h, and how structs and arrays cross it.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "capi/barrier.h"
#include "vase/engine.h"
#include "vase/model.h"
#include "vase/policy.h"
#include "vase/select.h"
#include "vase/vase.h"

namespace vase::capi {

// Which handle stands for a session of an engine; sessions whose handles were freed are not in it.
using SessionTable = std::unordered_map<const Session*, vase_session*>;

// The options that the caller gave, with the defaults for members that its version did not know. NULL: all defaults.
template <typename Options>
Options complete(const Options* given, void (*init)(Options*, size_t), const char* name) {
  Options options;
  init(&options, sizeof options);
  if (!given) return options;
  if (given->size < sizeof(size_t) || given->size > sizeof options) {
    throw Error(ErrorCode::kUsage, std::string(name) + ": size is " + std::to_string(given->size) + "; at most " +
                                       std::to_string(sizeof options) +
                                       " is known here. Set the struct up with its init function");
  }
  std::memcpy(static_cast<void*>(&options), given, given->size);
  return options;
}

// As much of `from` as the caller's version knows; members that only the caller knows are 0.
template <typename Struct>
void give(const Struct& from, Struct* to, size_t size) {
  std::memset(static_cast<void*>(to), 0, size);
  std::memcpy(static_cast<void*>(to), &from, std::min(size, sizeof from));
}

template <typename Enum>
Enum checked_enum(int32_t value, int32_t last, const char* name) {
  if (value >= 0 && value <= last) return static_cast<Enum>(value);
  throw Error(ErrorCode::kUsage,
              std::string(name) + " is " + std::to_string(value) + "; allowed: 0 to " + std::to_string(last));
}

CacheOptions cache_options(const vase_cache_options* given);
EngineOptions engine_options(const vase_engine_options* given);
SessionOptions session_options(const vase_session_options* given);
vase_memory_plan memory_plan(const MemoryPlan& plan);
vase_counters counters_of(const Counters& counters);

}  // namespace vase::capi

struct vase_policy {
  explicit vase_policy(vase::Policy p) : policy(std::move(p)), text(policy.text()) {}
  vase::Policy policy;
  std::string text;
};

struct vase_model {
  std::shared_ptr<const vase::Model> model;
};

struct vase_engine {
  std::shared_ptr<vase::capi::SessionTable> sessions;
  std::unique_ptr<vase::Engine> engine;
};

struct vase_session {
  std::shared_ptr<vase::capi::SessionTable> table;
  std::shared_ptr<vase::Session> session;
};

struct vase_selection {
  vase::Selection selection;
};
