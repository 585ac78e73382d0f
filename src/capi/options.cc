// Options and plain results, from C to C++ and back. The defaults come from the C++ structs.
#include "capi/handles.h"

namespace vase::capi {
namespace {

vase_cache_options cache_defaults() {
  const CacheOptions d;
  vase_cache_options o{};
  o.size = sizeof o;
  o.budget = d.budget;
  o.buffer = d.buffer;
  o.budget_mib = d.budget_mib;
  o.period = d.period;
  o.key_type = static_cast<int32_t>(d.key_type);
  o.value_type = static_cast<int32_t>(d.value_type);
  o.prefill = static_cast<int32_t>(d.prefill);
  o.max_prompt = d.max_prompt;
  o.trigger = static_cast<int32_t>(d.trigger);
  o.positions = static_cast<int32_t>(d.positions);
  o.context = d.context;
  o.layer_budgets = static_cast<int32_t>(d.layer_budgets);
  o.pyramid_beta = d.pyramid_beta;
  o.stagger = d.stagger;
  o.auto_types = d.auto_types;
  o.expected_tokens = d.expected_tokens;
  return o;
}

vase_engine_options engine_defaults() {
  const EngineOptions d;
  vase_engine_options o{};
  o.size = sizeof o;
  o.sequences = d.sequences;
  o.threads = d.threads;
  o.chunk = d.chunk;
  o.logit_rows = d.logit_rows;
  o.path = static_cast<int32_t>(d.path);
  o.poison_free_rows = d.poison_free_rows;
  o.log_evictions = d.log_evictions;
  return o;
}

vase_session_options session_defaults() {
  const SessionOptions d;
  vase_session_options o{};
  o.size = sizeof o;
  o.temperature = d.sampling.temperature;
  o.top_p = d.sampling.top_p;
  o.min_p = d.sampling.min_p;
  o.repetition_penalty = d.sampling.repetition_penalty;
  o.repetition_window = d.sampling.repetition_window;
  o.top_k = d.sampling.top_k;
  o.seed = d.sampling.seed;
  o.evict_seed = d.evict_seed;
  o.stream = d.stream;
  o.max_tokens = d.max_tokens;
  o.ignore_eos = d.ignore_eos;
  o.stop_loops = d.stop_loops;
  return o;
}

// Sets the caller's struct; its `size` is what the caller's version takes.
template <typename Options>
void initialise(Options* options, size_t size, const Options& defaults) {
  if (!options || size < sizeof(size_t)) return;
  give(defaults, options, size);
  options->size = size;
}

}  // namespace

CacheOptions cache_options(const vase_cache_options* given) {
  const vase_cache_options o = complete(given, vase_cache_options_init, "cache options");
  return {.budget = o.budget,
          .budget_mib = o.budget_mib,
          .buffer = o.buffer,
          .period = o.period,
          .key_type = checked_enum<RowType>(o.key_type, VASE_ROWS_Q4_0, "key_type"),
          .value_type = checked_enum<RowType>(o.value_type, VASE_ROWS_Q4_0, "value_type"),
          .auto_types = o.auto_types != 0,
          .expected_tokens = o.expected_tokens,
          .prefill = checked_enum<Prefill>(o.prefill, VASE_PREFILL_DENSE, "prefill"),
          .max_prompt = o.max_prompt,
          .trigger = checked_enum<Trigger>(o.trigger, VASE_TRIGGER_PARITY, "trigger"),
          .positions = checked_enum<Positions>(o.positions, VASE_POSITIONS_CACHE, "positions"),
          .layer_budgets = checked_enum<LayerBudgets>(o.layer_budgets, VASE_LAYERS_PYRAMID, "layer_budgets"),
          .pyramid_beta = o.pyramid_beta,
          .stagger = o.stagger != 0,
          .context = o.context};
}

EngineOptions engine_options(const vase_engine_options* given) {
  const vase_engine_options o = complete(given, vase_engine_options_init, "engine options");
  return {.sequences = o.sequences,
          .threads = o.threads,
          .chunk = o.chunk,
          .logit_rows = o.logit_rows,
          .path = checked_enum<AttentionPath>(o.path, VASE_PATH_REFERENCE, "path"),
          .poison_free_rows = o.poison_free_rows != 0,
          .log_evictions = o.log_evictions != 0};
}

SessionOptions session_options(const vase_session_options* given) {
  const vase_session_options o = complete(given, vase_session_options_init, "session options");
  SessionOptions options;
  options.sampling = {.temperature = o.temperature,
                      .top_k = o.top_k,
                      .top_p = o.top_p,
                      .min_p = o.min_p,
                      .repetition_penalty = o.repetition_penalty,
                      .repetition_window = o.repetition_window,
                      .seed = o.seed};
  options.evict_seed = o.evict_seed;
  options.stream = o.stream;
  options.max_tokens = o.max_tokens;
  options.ignore_eos = o.ignore_eos != 0;
  options.stop_loops = o.stop_loops;
  require_array(o.stops, o.stops_count, "stops");
  for (size_t i = 0; i < o.stops_count; ++i) options.stops.emplace_back(&required(o.stops[i], "a stop text"));
  return options;
}

vase_memory_plan memory_plan(const MemoryPlan& plan) {
  return {.layers = plan.layers,
          .kv_heads = plan.kv_heads,
          .sequences = plan.sequences,
          .budget = plan.budget,
          .buffer = plan.buffer,
          .capacity = plan.capacity,
          .key_row = plan.key_row,
          .value_row = plan.value_row,
          .metadata = plan.metadata,
          .scratch = plan.scratch,
          .bytes = plan.bytes(),
          .period = plan.period,
          .read = plan.read,
          .query_ring = plan.query_ring,
          .summaries = plan.summaries,
          .first_budget = plan.first_budget,
          .last_budget = plan.last_budget,
          .recent = plan.recent,
          .recent_key_row = plan.recent_key_row,
          .recent_value_row = plan.recent_value_row,
          .unused = plan.unused,
          .key_type = static_cast<int32_t>(plan.key_type),
          .value_type = static_cast<int32_t>(plan.value_type)};
}

vase_counters counters_of(const Counters& counters) {
  return {.tokens_seen = counters.tokens_seen,
          .slots_used = counters.slots_used,
          .evicted = counters.evicted,
          .evictions = counters.evictions,
          .first_eviction = counters.first_eviction};
}

}  // namespace vase::capi

extern "C" {

void vase_cache_options_init(vase_cache_options* options, size_t size) {
  vase::capi::initialise(options, size, vase::capi::cache_defaults());
}

void vase_engine_options_init(vase_engine_options* options, size_t size) {
  vase::capi::initialise(options, size, vase::capi::engine_defaults());
}

void vase_session_options_init(vase_session_options* options, size_t size) {
  vase::capi::initialise(options, size, vase::capi::session_defaults());
}

}  // extern "C"
