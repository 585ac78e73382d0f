/* The C interface with a model: texts and tokens, memory, sessions, teacher forcing. */
#include <math.h>

#include "check.h"

static void test_model(const vase_model* model) {
  static const vase_message chat[1] = {{"user", "hi"}};
  vase_shape shape;
  int32_t tokens[64];
  size_t count = 0, size = 0;
  char text[8];
  vase_model* missing = NULL;
  CHECK(vase_model_shape(model, &shape, sizeof shape) == VASE_OK);
  CHECK(strcmp(shape.architecture, "qwen2") == 0 && shape.layers == 2 && strlen(shape.fingerprint) == 16);
  CHECK(vase_model_tokenize(model, "abc", 3, 0, NULL, 0, &count) == VASE_OK && count == 3);
  CHECK(vase_model_tokenize(model, "abc", 3, 0, tokens, 2, &count) == VASE_OK && count == 3);
  CHECK(tokens[0] == 'a' && tokens[1] == 'b');
  CHECK_FAILS(vase_model_tokenize(model, "\xff", 1, 0, tokens, 64, &count), VASE_USAGE, "UTF-8");
  CHECK(vase_model_piece(model, 'a', text, sizeof text, &size) == VASE_OK && size == 1 && strcmp(text, "a") == 0);
  CHECK_FAILS(vase_model_piece(model, -1, text, sizeof text, &size), VASE_USAGE, "outside of the vocabulary");
  CHECK(!vase_model_ends_generation(model, 'a') && !vase_model_ends_generation(model, 1 << 30));
  CHECK(vase_model_has_chat_template(model));
  CHECK(vase_model_render_chat(model, chat, 1, text, sizeof text, &size) == VASE_OK);
  CHECK(size > sizeof text && strlen(text) == sizeof text - 1); /* cut, and still ended */
  CHECK(vase_model_tokenize_chat(model, chat, 1, tokens, 64, &count) == VASE_OK && count > 2 && count <= 64);
  CHECK_FAILS(vase_model_load("/nowhere.gguf", &missing), VASE_NOT_FOUND, "/nowhere.gguf");
  CHECK(missing == NULL);
}

static void small_cache(vase_cache_options* cache, vase_engine_options* options) {
  vase_cache_options_init(cache, sizeof *cache);
  vase_engine_options_init(options, sizeof *options);
  cache->budget = 32;
  cache->buffer = 8;
  options->threads = 1;
  options->sequences = 2;
  options->log_evictions = 1;
}

/* Tokens seen at the second eviction of the second of two layers. */
static int64_t second_eviction(const vase_model* model, int32_t stagger) {
  vase_cache_options cache;
  vase_engine_options options;
  vase_engine* engine = NULL;
  vase_session* session = NULL;
  vase_session_options text;
  vase_policy* policy = parsed("vase-attnv");
  vase_eviction eviction;
  int32_t prompt[70], left = 1;
  int64_t seen = 0;
  size_t i;
  for (i = 0; i < 70; ++i) prompt[i] = 'a';
  small_cache(&cache, &options);
  CHECK(cache.stagger == 1);
  cache.stagger = stagger;
  vase_session_options_init(&text, sizeof text);
  text.max_tokens = 1;
  CHECK(vase_engine_new(model, policy, &cache, &options, &engine) == VASE_OK);
  CHECK(vase_engine_submit(engine, prompt, 70, &text, &session) == VASE_OK);
  while (left > 0) CHECK(vase_engine_step(engine, NULL, NULL, &left) == VASE_OK);
  for (i = 0; i < vase_session_eviction_count(session); ++i) {
    CHECK(vase_session_eviction(session, i, &eviction, sizeof eviction) == VASE_OK);
    if (eviction.layer == 1 && eviction.number == 1) seen = eviction.seen;
  }
  vase_session_free(session);
  vase_engine_free(engine);
  vase_policy_free(policy);
  return seen;
}

static void test_memory(const char* path, const vase_engine* engine) {
  vase_cache_options cache;
  vase_engine_options options;
  vase_memory_plan before, now;
  vase_policy* policy = parsed("vase-attnv");
  small_cache(&cache, &options);
  CHECK(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before) == VASE_OK);
  CHECK(vase_engine_memory(engine, &now, sizeof now) == VASE_OK);
  CHECK(now.capacity == 40 && now.sequences == 2 && before.bytes == now.bytes && before.scratch == now.scratch);
  CHECK(now.bytes == (uint64_t)now.layers * (uint64_t)now.kv_heads * 40 * 2 *
                             (uint64_t)(now.key_row + now.value_row + now.metadata) + now.scratch);
  cache.budget = 8;
  CHECK_FAILS(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before), VASE_USAGE, "smallest budget");
  cache.budget = 32;
  cache.prefill = 9;
  CHECK_FAILS(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before), VASE_USAGE, "prefill is 9");
  cache.prefill = VASE_PREFILL_EVICTING;
  cache.layer_budgets = VASE_LAYERS_PYRAMID;
  CHECK(cache.pyramid_beta == 20);
  cache.pyramid_beta = 4;
  CHECK(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before) == VASE_OK);
  CHECK(before.first_budget == 50 && before.last_budget == 14 && before.capacity == now.capacity);
  CHECK(before.bytes - before.scratch == now.bytes - now.scratch);
  cache.layer_budgets = VASE_LAYERS_UNIFORM;
  CHECK(before.key_type == VASE_ROWS_F16 && cache.auto_types == 0);
  cache.auto_types = 1;
  CHECK_FAILS(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before), VASE_USAGE, "budget in MiB");
  cache.budget_mib = 1;
  cache.expected_tokens = 100;
  CHECK(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before) == VASE_OK);
  CHECK(before.key_type == VASE_ROWS_F16 && before.value_type == VASE_ROWS_F16 && before.bytes <= 1 << 20);
  cache.expected_tokens = 100000;
  CHECK(vase_plan_memory(path, policy, &cache, &options, &before, sizeof before) == VASE_OK);
  CHECK(before.key_type == VASE_ROWS_Q4_0 && before.value_type == VASE_ROWS_Q4_0 && before.bytes <= 1 << 20);
  vase_policy_free(policy);
}

typedef struct {
  vase_session* session;
  size_t bytes;
  int calls, finished;
} heard;

static void on_text(void* user, vase_session* session, const char* text, size_t bytes) {
  heard* h = user;
  if (session != h->session) return;
  CHECK(text != NULL);
  h->bytes += bytes;
  ++h->calls;
  if (vase_session_finish(session) != VASE_RUNNING) h->finished = 1;
}

static int run_all(vase_engine* engine, heard* h) {
  int32_t left = 1;
  int steps = 0;
  while (left > 0 && steps++ < 1000) {
    CHECK(vase_engine_step(engine, on_text, h, &left) == VASE_OK);
  }
  return steps;
}

static void test_session(const vase_model* model, vase_engine* engine) {
  static const char* stops[1] = {"never in this text"};
  int32_t prompt[20];
  heard h = {NULL, 0, 0, 0};
  vase_session_options options;
  vase_session *cancelled = NULL, *dropped = NULL;
  vase_counters counters;
  vase_eviction eviction;
  size_t count = 0, i;
  for (i = 0; i < 20; ++i) prompt[i] = (int32_t)('a' + i);
  vase_session_options_init(&options, sizeof options);
  options.max_tokens = 60;
  options.ignore_eos = 1;
  options.stops = stops;
  options.stops_count = 1;
  CHECK(vase_engine_submit(engine, prompt, 20, &options, &h.session) == VASE_OK);
  CHECK(vase_engine_submit(engine, prompt, 20, NULL, &cancelled) == VASE_OK);
  CHECK(vase_engine_submit(engine, prompt, 20, NULL, &dropped) == VASE_OK);
  vase_session_cancel(cancelled);
  vase_session_free(dropped);
  dropped = NULL;
  options.stop_loops = 2;
  CHECK(vase_engine_submit(engine, prompt, 20, &options, &dropped) == VASE_USAGE && dropped == NULL);
  CHECK(run_all(engine, &h) >= 60);
  CHECK(h.finished && h.calls > 0);
  CHECK(vase_session_finish(h.session) == VASE_MAX_TOKENS);
  CHECK(strcmp(vase_finish_name(vase_session_finish(h.session)), "length") == 0);
  CHECK(strcmp(vase_finish_name(VASE_REPETITION), "repetition") == 0);
  CHECK(vase_session_finish(cancelled) == VASE_CANCELLED);
  CHECK(vase_session_prompt_tokens(h.session) == 20);
  CHECK(vase_session_generated(h.session, &count) != NULL && count == 60);
  CHECK(vase_session_counters(h.session, &counters, sizeof counters) == VASE_OK);
  CHECK(counters.tokens_seen == 79 && counters.evicted > 0 && counters.evicted + counters.slots_used == 79);
  CHECK(counters.first_eviction == 40);
  CHECK(vase_session_eviction_count(h.session) > 0);
  CHECK(vase_session_eviction(h.session, 0, &eviction, sizeof eviction) == VASE_OK);
  CHECK(eviction.kept_count == 32 && eviction.kept[31] == 39 && eviction.kept[0] >= 0);
  CHECK(eviction.seen == 40 && eviction.candidates == 32 && eviction.buffer == 8 && eviction.prompt_tokens == 20);
  CHECK(eviction.value_similarity > 0 && eviction.value_similarity < 1);
  CHECK_FAILS(vase_session_eviction(h.session, 1 << 20, &eviction, sizeof eviction), VASE_USAGE, "no eviction number");
  prompt[3] = -7;
  CHECK_FAILS(vase_engine_submit(engine, prompt, 20, NULL, &dropped), VASE_USAGE, "token -7");
  CHECK_FAILS(vase_engine_submit(engine, NULL, 20, NULL, &dropped), VASE_USAGE, "prompt is NULL");
  vase_session_free(h.session);
  vase_session_free(cancelled);
  (void)model;
}

typedef struct {
  int64_t next;
  size_t vocabulary;
  int finite;
} forced;

static void on_logits(void* user, int64_t position, const float* logits, size_t vocabulary) {
  forced* f = user;
  size_t i;
  CHECK(position == f->next);
  ++f->next;
  f->vocabulary = vocabulary;
  for (i = 0; i < vocabulary; ++i) f->finite &= isfinite(logits[i]) != 0;
}

static void test_force(vase_engine* engine, const vase_shape* shape) {
  int32_t tokens[50];
  forced f = {0, 0, 1};
  vase_counters counters;
  int i;
  for (i = 0; i < 50; ++i) tokens[i] = 'a' + i % 26;
  CHECK(vase_engine_force(engine, tokens, 50, 10, NULL, on_logits, &f, &counters, sizeof counters) == VASE_OK);
  CHECK(f.next == 50 && f.finite && f.vocabulary == (size_t)shape->vocabulary && counters.tokens_seen == 50);
  CHECK_FAILS(vase_engine_force(engine, tokens, 50, 51, NULL, on_logits, &f, NULL, 0), VASE_USAGE, "prompt tokens");
  CHECK_FAILS(vase_engine_force(engine, tokens, 50, 10, NULL, NULL, NULL, NULL, 0), VASE_USAGE, "on_logits");
}

/* A scorer that fails makes the step fail, and the engine goes on. */
static void test_failing_scorer(const vase_model* model) {
  my_state state = {5, 0};
  vase_policy* policy = with_my_scorer("protect=sinks:2 score=uniform select=sample", &state);
  vase_cache_options cache;
  vase_engine_options options;
  vase_engine* engine = NULL;
  heard h = {NULL, 0, 0, 0};
  vase_status status = VASE_OK;
  int32_t prompt[45], left = 1, i;
  for (i = 0; i < 45; ++i) prompt[i] = 'a' + i % 26;
  small_cache(&cache, &options);
  CHECK(vase_engine_new(model, policy, &cache, &options, &engine) == VASE_OK);
  vase_policy_free(policy);
  CHECK(vase_engine_submit(engine, prompt, 45, NULL, &h.session) == VASE_OK);
  for (i = 0; i < 60 && status == VASE_OK; ++i) status = vase_engine_step(engine, on_text, &h, &left);
  CHECK(status == VASE_CALLBACK && strstr(vase_error_message(), "'mine' failed with 5"));
  state.fail = 0;
  for (i = 0; i < 60; ++i) CHECK(vase_engine_step(engine, on_text, &h, &left) == VASE_OK);
  vase_engine_free(engine);
  CHECK(state.destroyed == 1);
  CHECK(vase_session_prompt_tokens(h.session) == 45); /* outlives the engine */
  vase_session_free(h.session);
}

void test_with_model(const char* path) {
  vase_model* model = NULL;
  vase_engine* engine = NULL;
  vase_policy* policy = parsed("vase-attnv");
  vase_cache_options cache;
  vase_engine_options options;
  vase_shape shape;
  CHECK(vase_model_load(path, &model) == VASE_OK);
  if (!model) return;
  test_model(model);
  test_failing_scorer(model);
  CHECK(second_eviction(model, 1) == 44 && second_eviction(model, 0) == 48);
  small_cache(&cache, &options);
  CHECK_FAILS(vase_engine_new(NULL, policy, &cache, &options, &engine), VASE_USAGE, "model is NULL");
  CHECK(vase_engine_new(model, policy, &cache, &options, &engine) == VASE_OK);
  CHECK(vase_model_shape(model, &shape, sizeof shape) == VASE_OK);
  vase_policy_free(policy);
  test_memory(path, engine);
  test_session(model, engine);
  test_force(engine, &shape);
  CHECK(vase_engine_nonfinite_scores(engine) == 0 && vase_engine_protection_truncated(engine) == 0);
  vase_model_free(model); /* the engine keeps the model alive */
  CHECK_FAILS(vase_engine_step(NULL, NULL, NULL, NULL), VASE_USAGE, "engine is NULL");
  CHECK(vase_engine_step(engine, NULL, NULL, NULL) == VASE_OK);
  vase_engine_free(engine);
}
