#include "engine/engine_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/machine.h"
#include "policies/trigger.h"
#include "vase/error.h"

namespace vase {
namespace {

constexpr int kMaxBudget = kMaxContext;

void require(bool ok, const std::string& message) {
  if (!ok) throw Error(ErrorCode::kUsage, message);
}

void require_range(const char* name, int64_t value, int64_t low, int64_t high) {
  require(value >= low && value <= high, std::string(name) + " is " + std::to_string(value) + "; allowed: " +
                                             std::to_string(low) + " to " + std::to_string(high));
}

std::string mib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", bytes / 1048576);
  return text;
}

void check_options(const Policy& policy, const CacheOptions& cache, const EngineOptions& engine) {
  require_range("the number of sequences", engine.sequences, 1, 4096);
  require_range("the number of threads", engine.threads, 0, 256);
  require_range("the prefill chunk", engine.chunk, 1, 4096);
  require_range("the number of logit rows", engine.logit_rows, 1, 4096);
  require_range("the context", cache.context, 0, kMaxContext);
  require(std::isfinite(cache.budget_mib) && cache.budget_mib >= 0,
          "the KV budget in MiB must be a positive number");
  if (!policy.evicts()) return;
  require_range("the KV buffer", cache.buffer, 1, 65536);
  if (cache.budget_mib == 0) {
    require_range("the KV budget", cache.budget, 1, kMaxBudget);
    policy.validate(cache.budget, cache.buffer);
  }
  if (cache.prefill == Prefill::kDense) require_range("the longest prompt", cache.max_prompt, 1, kMaxContext);
  if (cache.trigger == Trigger::kParity) {
    require(cache.prefill == Prefill::kDense, "the parity trigger needs --prefill dense: the authors' code never "
                                              "evicts while it reads the prompt");
    if (cache.budget_mib == 0) validate_trigger(cache.trigger, cache.budget, cache.buffer);
  }
}

int capacity_for(const Policy& policy, const CacheOptions& cache, int budget) {
  if (!policy.evicts()) return budget;
  const int longest = cache.prefill == Prefill::kDense ? std::max(budget, cache.max_prompt) : budget;
  return longest + cache.buffer;
}

// All sizes for one budget; for `full` the budget is the context.
EnginePlan plan_for(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                    const EngineOptions& engine, int budget) {
  EnginePlan plan;
  plan.cache = {.layers = shape.layers,
                .kv_heads = shape.kv_heads,
                .head_dim = shape.head_dim,
                .sequences = engine.sequences,
                .capacity = capacity_for(policy, cache, budget),
                .key_type = cache.key_type,
                .value_type = cache.value_type,
                .needs = policy.needs()};
  const int buffer = policy.evicts() ? cache.buffer : 0;
  plan.attention = {.path = engine.path == AttentionPath::kFused ? kernels::Path::kFused : kernels::Path::kReference,
                    .schedule = {policy.evicts(), budget, buffer, cache.trigger},
                    .eviction = {&policy, budget, buffer, shape.group()},
                    .threads = engine.threads > 0 ? engine.threads : physical_cores(),
                    .max_run = std::min(engine.chunk, plan.cache.capacity),
                    .max_candidates = policy.evicts() ? plan.cache.capacity - buffer : 0,
                    .log = engine.log_evictions};
  plan.memory = {.layers = shape.layers,
                 .kv_heads = shape.kv_heads,
                 .sequences = engine.sequences,
                 .budget = budget,
                 .buffer = buffer,
                 .capacity = plan.cache.capacity,
                 .key_row = static_cast<int>(plan.cache.key_row()),
                 .value_row = static_cast<int>(plan.cache.value_row()),
                 .metadata = static_cast<int>(plan.cache.metadata()),
                 .scratch = EvictingAttention::scratch_bytes_for(plan.cache, plan.attention)};
  return plan;
}

int smallest_budget(const Policy& policy, const CacheOptions& cache) {
  if (!policy.evicts()) return 1;
  const int tokens = static_cast<int>(policy.smallest_budget(cache.buffer));
  if (cache.trigger != Trigger::kParity) return tokens;
  return (tokens + cache.buffer - 1) / cache.buffer * cache.buffer;
}

// The largest budget whose bytes fit.
int solve_budget(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                 const EngineOptions& engine, int largest) {
  const double allowed = cache.budget_mib * 1048576;
  const auto bytes = [&](int budget) {
    return static_cast<double>(plan_for(shape, policy, cache, engine, budget).memory.bytes());
  };
  int low = smallest_budget(policy, cache);
  if (bytes(low) > allowed) {
    const double hundredths = std::ceil(bytes(low) / 10485.76);  // rounded up, so that the number works
    throw Error(ErrorCode::kUsage, mib(allowed) + " MiB of KV memory is too little; the smallest that works here is " +
                                       mib(hundredths * 10485.76) + " MiB (" +
                                       std::to_string(capacity_for(policy, cache, low)) + " slots)");
  }
  int high = largest;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (bytes(middle) <= allowed) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return cache.trigger == Trigger::kParity ? low / cache.buffer * cache.buffer : low;
}

}  // namespace

EnginePlan plan_engine(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine) {
  check_options(policy, cache, engine);
  const int default_context = policy.evicts() ? kDefaultContext : std::max(1, shape.trained_context);
  const int context = cache.context > 0 ? cache.context : default_context;
  const int largest = policy.evicts() ? kMaxBudget : context;
  int budget = policy.evicts() ? cache.budget : context;
  if (cache.budget_mib > 0) budget = solve_budget(shape, policy, cache, engine, largest);
  EnginePlan plan = plan_for(shape, policy, cache, engine, budget);
  plan.context = policy.evicts() ? context : plan.cache.capacity;
  return plan;
}

MemoryPlan plan_memory(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine) {
  return plan_engine(shape, policy, cache, engine).memory;
}

std::string MemoryPlan::formula() const {
  char text[256];
  const std::string slots = buffer > 0 ? std::to_string(capacity) + " slots (" + std::to_string(capacity - buffer) +
                                             " + " + std::to_string(buffer) + ")"
                                       : std::to_string(capacity) + " slots";
  std::snprintf(text, sizeof(text),
                "%d layers x %d KV heads x %s x (%d K + %d V + %d meta) B x %d sequence%s + %.2f MiB scratch = %.2f MiB",
                layers, kv_heads, slots.c_str(), key_row, value_row, metadata, sequences, sequences == 1 ? "" : "s",
                static_cast<double>(scratch) / 1048576, static_cast<double>(bytes()) / 1048576);
  return text;
}

}  // namespace vase
