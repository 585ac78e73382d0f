#include "engine/engine_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/machine.h"
#include "engine/layer_budgets.h"
#include "engine/row_choice.h"
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

// Rounded up, so that who gives the number gets what it was said to buy.
std::string mib_above(double bytes) { return mib(std::ceil(bytes / 10485.76) * 10485.76); }

// Tokens from one eviction to the next.
int period_of(const CacheOptions& cache) { return cache.period > 0 ? cache.period : cache.buffer; }

void check_parity(const CacheOptions& cache) {
  require(cache.prefill == Prefill::kDense,
          "the parity trigger needs a prompt that is stored whole (prefill = dense): the authors' code never "
          "evicts while it reads the prompt");
  require(period_of(cache) == cache.buffer,
          "the parity trigger evicts every " + std::to_string(cache.buffer) +
              " tokens, the buffer; leave the period out, or use the general trigger");
  if (cache.budget_mib == 0) validate_trigger(cache.trigger, cache.budget, cache.buffer);
}

void check_row_type(const char* name, RowType type, const ModelShape& shape) {
  std::string fitting;
  for (const RowType one : kCacheTypes) {
    if (fits_heads(one, shape)) fitting += (fitting.empty() ? "" : ", ") + std::string(row_type_name(one));
  }
  require(fits_heads(type, shape),
          std::string(name) + " of type " + std::string(row_type_name(type)) + " come in blocks of " +
              std::to_string(row_block(type)) + " elements, and the heads of this model have " +
              std::to_string(shape.head_dim) + "; types that fit: " + fitting);
}

// Keys that move up have no position of their own any more, and they move by their order. They are stored again each
// time: with the coarse steps of the other types a key is noise after some hundred evictions.
void check_positions(const Policy& policy, const CacheOptions& cache) {
  if (cache.positions == Positions::kText) return;
  require(
      goes_with_positions(cache.positions, cache.key_type),
      "positions of the cache turn the kept keys at every eviction and round them again each time, too coarsely as " +
          std::string(row_type_name(cache.key_type)) + "; use f16 or f32 for the keys");
  require(!policy.needs().rope, "'" + policy.text() + "' looks at keys at their positions in the text; it does not go "
                                "with positions of the cache");
  require(policy.order == Order::kPosition, "positions of the cache need order=position");
}

void check_reading(const Policy& policy, const CacheOptions& cache) {
  require(goes_with_reading(policy, {cache.key_type, cache.value_type}),
          "'" + policy.text() + "' reads rows one by one, which quantised types cannot give; use f16, bf16 or f32");
}

void check_options(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                   const EngineOptions& engine) {
  require_range("the number of sequences", engine.sequences, 1, 4096);
  require_range("the number of threads", engine.threads, 0, 256);
  require_range("the prefill chunk", engine.chunk, 1, 4096);
  require_range("the number of logit rows", engine.logit_rows, 1, 4096);
  require_range("the context", cache.context, 0, kMaxContext);
  require_range("the longest text that is expected", cache.expected_tokens, 0, kMaxContext);
  require(std::isfinite(cache.budget_mib) && cache.budget_mib >= 0,
          "the KV budget in MiB must be a positive number");
  require(!cache.auto_types || cache.budget_mib > 0,
          "types of rows are chosen by what a budget in MiB buys; give one, or name the types");
  check_row_type("keys", cache.key_type, shape);
  check_row_type("values", cache.value_type, shape);
  check_reading(policy, cache);
  policy.check({shape.layers, shape.kv_heads, shape.group(), shape.head_dim});
  if (policy.reads()) require_range("the KV budget", cache.budget, 1, kMaxBudget);
  if (!policy.evicts()) return;
  require_range("the KV buffer", cache.buffer, 1, 65536);
  require_range("the KV period", cache.period, 0, 65536);
  require_range("the number of queries that the policy looks at", policy.needs().queries, 0, 65536);
  check_positions(policy, cache);
  if (cache.budget_mib == 0) {
    require_range("the KV budget", cache.budget, 1, kMaxBudget);
    policy.validate(cache.budget, cache.buffer);
  }
  check_layer_budgets(policy, cache, shape.layers);
  if (cache.prefill == Prefill::kDense) require_range("the longest prompt", cache.max_prompt, 1, kMaxContext);
  if (cache.trigger == Trigger::kParity) check_parity(cache);
}

// Whether layers evict at different steps. Heads that share across a step evict at its end, so that prompts would be
// cut where any layer evicts; unequal budgets lie apart by themselves; with a period below R a longer one cannot follow
// a shorter one (KeepPlan::next_candidates).
bool staggers(const Policy& policy, const CacheOptions& cache) {
  return cache.stagger && policy.evicts() && policy.share == Share::kHead && cache.trigger == Trigger::kGeneral &&
         cache.layer_budgets == LayerBudgets::kUniform && period_of(cache) >= cache.buffer;
}

bool quantises(const CacheOptions& cache) { return is_quantised(cache.key_type) || is_quantised(cache.value_type); }

// Slots whose rows are not quantised yet: the buffer, and as many again as it takes until the oldest are quantised
// together. Few, since each is as dear as several quantised ones; not one, since the others move up each time.
int recent_for(const CacheOptions& cache) {
  if (!quantises(cache)) return 0;
  return cache.buffer + std::min(period_of(cache), std::max(8, cache.buffer / 8));
}

// Slots per head that a layer with this budget needs.
int capacity_for(const Policy& policy, const CacheOptions& cache, int budget) {
  if (!policy.evicts()) return std::max(budget, recent_for(cache));
  const int longest = cache.prefill == Prefill::kDense ? std::max(budget, cache.max_prompt) : budget;
  return longest + period_of(cache);
}

// Memory and setup of a policy that keeps everything and reads M tokens per step.
void plan_reading(EnginePlan& plan, const ModelShape& shape, const Policy& policy, const CacheOptions& cache) {
  plan.reading = {.reader = &policy.reader(),
                  .path = plan.attention.path,
                  .budget = cache.budget,
                  .heads = {shape.layers, shape.kv_heads, shape.group(), shape.head_dim},
                  .rope = {},
                  .threads = plan.attention.threads,
                  .max_run = plan.attention.max_run};
  plan.memory.read = std::min(cache.budget, plan.cache.capacity);
  plan.memory.summaries = ReadingAttention::summary_bytes_for(plan.cache, plan.reading);
  plan.memory.scratch = ReadingAttention::scratch_bytes_for(plan.cache, plan.reading);
}

// All sizes for one budget; for policies that never evict it is the context.
EnginePlan plan_for(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                    const EngineOptions& engine, int budget) {
  EnginePlan plan;
  const std::vector<int> budgets =
      policy.evicts() ? budgets_of_layers(cache, shape.layers, budget) : std::vector<int>(shape.layers, budget);
  const int largest = std::ranges::max(budgets);
  plan.cache = {.layers = shape.layers,
                .kv_heads = shape.kv_heads,
                .head_dim = shape.head_dim,
                .group = shape.group(),
                .sequences = engine.sequences,
                .capacity = capacity_for(policy, cache, largest),
                .key_type = cache.key_type,
                .value_type = cache.value_type,
                .recent = recent_for(cache),
                .needs = policy.needs()};
  if (largest > budget) {
    for (const int one : budgets) plan.cache.layer_capacity.push_back(capacity_for(policy, cache, one));
  }
  const int buffer = policy.evicts() ? cache.buffer : 0, period = policy.evicts() ? period_of(cache) : 0;
  plan.attention = {.path = engine.path == AttentionPath::kFused ? kernels::Path::kFused : kernels::Path::kReference,
                    .schedule = {policy.evicts(), budgets, buffer, period, cache.trigger},
                    .eviction = {&policy, budgets, buffer, shape.group(), cache.positions},
                    .threads = engine.threads > 0 ? engine.threads : physical_cores(),
                    .max_run = std::min(engine.chunk, plan.cache.capacity),
                    .max_candidates = policy.evicts() ? plan.cache.capacity - buffer : 0,
                    .stay = cache.buffer,
                    .log = engine.log_evictions};
  if (staggers(policy, cache)) plan.attention.schedule.leads = staggered_leads(shape.layers, period);
  plan.memory = {.layers = shape.layers,
                 .kv_heads = shape.kv_heads,
                 .sequences = engine.sequences,
                 .budget = budget,
                 .first_budget = budgets.front(),
                 .last_budget = budgets.back(),
                 .buffer = buffer,
                 .period = period,
                 .capacity = capacity_for(policy, cache, budget),
                 .key_type = cache.key_type,
                 .value_type = cache.value_type,
                 .key_row = static_cast<int>(plan.cache.key_row()),
                 .value_row = static_cast<int>(plan.cache.value_row()),
                 .recent = plan.cache.recent,
                 .recent_key_row = static_cast<int>(row_bytes(recent_type(cache.key_type), shape.head_dim)),
                 .recent_value_row = static_cast<int>(row_bytes(recent_type(cache.value_type), shape.head_dim)),
                 .unused = plan.cache.unused_bytes(),
                 .metadata = static_cast<int>(plan.cache.metadata()),
                 .query_ring = plan.cache.query_ring(),
                 .scratch = 0};
  if (policy.reads()) {
    plan_reading(plan, shape, policy, cache);
  } else {
    plan.memory.scratch = EvictingAttention::scratch_bytes_for(plan.cache, plan.attention);
  }
  return plan;
}

CacheOptions with_types(CacheOptions cache, RowTypes types) {
  cache.key_type = types.key;
  cache.value_type = types.value;
  return cache;
}

// What a number of MiB buys.
struct Purchase {
  const ModelShape& shape;
  const Policy& policy;
  CacheOptions cache;
  const EngineOptions& engine;
  int largest;  // budget; the context, of policies that never evict

  MemoryPlan plan(int budget) const { return plan_for(shape, policy, cache, engine, budget).memory; }
  double bytes(int budget) const { return static_cast<double>(plan(budget).bytes()); }
  bool fits(int budget) const { return bytes(budget) <= cache.budget_mib * 1048576; }
  int smallest() const { return smallest_budget(shape, policy, cache); }
  Purchase with(RowTypes types) const { return {shape, policy, with_types(cache, types), engine, largest}; }

  std::optional<int> budget() const;
  int64_t tokens_held() const;
  std::string costs_by_type() const;
  [[noreturn]] void fail_too_little() const;
};

// The largest that fits; nothing when the smallest does not.
std::optional<int> Purchase::budget() const {
  int low = smallest(), high = largest;
  if (!fits(low)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return cache.trigger == Trigger::kParity ? low / cache.buffer * cache.buffer : low;
}

// Tokens that a sequence holds before any layer evicts; 0 when the MiB buy nothing.
int64_t Purchase::tokens_held() const {
  const std::optional<int> bought = budget();
  if (!bought || !policy.evicts()) return bought.value_or(0);
  const MemoryPlan memory = plan(*bought);
  return int64_t(memory.last_budget) + memory.period - 1;  // the next one makes it evict
}

// "f16 8.28 MiB, q8_0 5.11 MiB": the smallest budget with each of the types that work.
std::string Purchase::costs_by_type() const {
  std::string text;
  for (const RowTypes types : usable_types(shape, policy, cache)) {
    const double bytes = with(types).bytes(smallest());
    text += (text.empty() ? "" : ", ") + row_types_name(types.key, types.value) + " " + mib_above(bytes) + " MiB";
  }
  return text;
}

void Purchase::fail_too_little() const {
  const std::string slots = std::to_string(capacity_for(policy, cache, smallest())) + " slots";
  std::string message = mib(cache.budget_mib * 1048576) + " MiB of KV memory is too little";
  if (cache.auto_types) {
    message += " for any type of rows; the smallest budget that works here (" + slots + ") takes with ";
  } else {
    message +=
        "; the smallest that works here is " + mib_above(bytes(smallest())) + " MiB (" + slots + "); by type of rows: ";
  }
  throw Error(ErrorCode::kUsage, message + costs_by_type());
}

// The types that the MiB buy, where they are left open (engine/row_choice.h).
CacheOptions with_chosen_types(const Purchase& purchase, int context) {
  const CacheOptions& cache = purchase.cache;
  if (!cache.auto_types) return cache;
  const int64_t longest = cache.expected_tokens > 0 ? std::min(cache.expected_tokens, context) : context;
  const std::vector<RowTypes> types = usable_types(purchase.shape, purchase.policy, cache);
  const auto held = [&](RowTypes one) { return purchase.with(one).tokens_held(); };
  return with_types(cache, choose_types(types, longest, held));
}

}  // namespace

EnginePlan plan_engine(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine) {
  const CacheOptions open = cache.auto_types ? with_types(cache, kAutoTypes[0]) : cache;
  check_options(shape, policy, open, engine);
  const int default_context = policy.evicts() ? kDefaultContext : std::max(1, shape.trained_context);
  const int context = cache.context > 0 ? cache.context : default_context;
  Purchase purchase{shape, policy, open, engine, policy.evicts() ? kMaxBudget : context};
  purchase.cache = with_chosen_types(purchase, context);
  int budget = policy.evicts() ? cache.budget : context;
  if (cache.budget_mib > 0) {
    const std::optional<int> bought = purchase.budget();
    if (!bought) purchase.fail_too_little();
    budget = *bought;
  }
  EnginePlan plan = plan_for(shape, policy, purchase.cache, engine, budget);
  plan.context = policy.evicts() ? context : budget;
  return plan;
}

std::unique_ptr<StepAttention> make_attention(SlotCache& cache, const EnginePlan& plan) {
  if (plan.reading.reader) return std::make_unique<ReadingAttention>(cache, plan.reading);
  return std::make_unique<EvictingAttention>(cache, plan.attention);
}

int smallest_budget(const ModelShape& shape, const Policy& policy, const CacheOptions& cache) {
  if (!policy.evicts()) return 1;
  const int tokens = smallest_mean_budget(policy, cache, shape.layers);
  if (cache.trigger != Trigger::kParity) return tokens;
  return (tokens + cache.buffer - 1) / cache.buffer * cache.buffer;
}

MemoryPlan plan_memory(const ModelShape& shape, const Policy& policy, const CacheOptions& cache,
                       const EngineOptions& engine) {
  return plan_engine(shape, policy, cache, engine).memory;
}

CacheOptions decided(const CacheOptions& cache, const Policy& policy, const MemoryPlan& plan) {
  CacheOptions options = with_types(cache, {plan.key_type, plan.value_type});
  options.auto_types = false;
  options.budget_mib = 0;
  if (!policy.reads()) options.budget = plan.budget;
  if (!policy.evicts()) options.context = plan.budget;
  return options;
}

namespace {

// "320 slots (256 + 64) x (128 K + 128 V + 16 meta)", or with quantised rows
// "[320 slots (256 + 64): 192 x (68 K + 36 V) + 128 newest x (128 K + 128 V) + 320 x 16 meta]".
std::string rows_of(const MemoryPlan& plan, const std::string& slots) {
  char text[256];
  if (plan.recent == 0) {
    std::snprintf(text, sizeof(text), "%s x (%d K + %d V + %d meta)", slots.c_str(), plan.key_row, plan.value_row,
                  plan.metadata);
  } else {
    std::snprintf(text, sizeof(text), "[%s: %d x (%d K + %d V) + %d newest x (%d K + %d V) + %d x %d meta]",
                  slots.c_str(), plan.capacity - plan.recent, plan.key_row, plan.value_row, plan.recent,
                  plan.recent_key_row, plan.recent_value_row, plan.capacity, plan.metadata);
  }
  return text;
}

}  // namespace

std::string MemoryPlan::formula() const {
  char text[500];
  std::string slots = std::to_string(capacity) + " slots";
  if (period > 0) slots += " (" + std::to_string(capacity - period) + " + " + std::to_string(period);
  if (first_budget != last_budget) {
    slots += "; mean of " + std::to_string(first_budget + period) + " in the first layer to " +
             std::to_string(last_budget + period) + " in the last";
  }
  if (period > 0) slots += ")";
  const std::string blocks =
      summaries > 0 ? " + " + mib(static_cast<double>(summaries)) + " MiB block summaries" : "";
  const std::string reading =
      read > 0 ? ", of which " + std::to_string(read) + " tokens are read per step and head" : "";
  const std::string queries = query_ring > 0 ? " + " + mib(static_cast<double>(query_bytes())) + " MiB queries" : "";
  const std::string ends = unused > 0 ? " + " + mib(static_cast<double>(unused)) + " MiB unused" : "";
  std::snprintf(text, sizeof(text),
                "%d layers x %d KV heads x %s B x %d sequence%s%s%s%s + %.2f MiB scratch = %.2f MiB%s", layers,
                kv_heads, rows_of(*this, slots).c_str(), sequences, sequences == 1 ? "" : "s", queries.c_str(),
                ends.c_str(), blocks.c_str(), static_cast<double>(scratch) / 1048576,
                static_cast<double>(bytes()) / 1048576, reading.c_str());
  return text;
}

}  // namespace vase
