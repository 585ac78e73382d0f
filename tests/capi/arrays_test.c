/* The C interface without a model: versions, policies, options, a policy on arrays, a scorer in C. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

vase_policy* parsed(const char* text) {
  vase_policy* policy = NULL;
  CHECK(vase_policy_parse(text, &policy) == VASE_OK);
  return policy;
}

static void test_version(void) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", VASE_VERSION_MAJOR, VASE_VERSION_MINOR, VASE_VERSION_PATCH);
  CHECK(strcmp(vase_version(), text) == 0);
  CHECK(vase_version_number() == VASE_VERSION_NUMBER);
}

static void test_policies(void) {
  vase_policy* policy = parsed("vase-attnv protect+=prompt");
  size_t i;
  int found = 0;
  vase_preset preset;
  CHECK(strcmp(vase_policy_text(policy), "protect=sinks:4,prompt,value:25% score=attention select=sample") == 0);
  vase_policy_free(policy);
  vase_policy_free(NULL);

  policy = (vase_policy*)&found; /* a failure must set the handle to NULL */
  CHECK_FAILS(vase_policy_parse("vase-atnv", &policy), VASE_USAGE, "vase-attnv");
  CHECK(policy == NULL);
  CHECK_FAILS(vase_policy_parse(NULL, &policy), VASE_USAGE, "text is NULL");
  CHECK_FAILS(vase_policy_parse("random", NULL), VASE_USAGE, "policy is NULL");

  for (i = 0; i < vase_preset_count(); ++i) {
    CHECK(vase_preset_get(i, &preset, sizeof preset) == VASE_OK);
    if (strcmp(preset.name, "snapkv") == 0) found = strcmp(preset.text, "score=attention select=top") == 0;
  }
  CHECK(found);
  CHECK_FAILS(vase_preset_get(i, &preset, sizeof preset), VASE_USAGE, "no preset number");
}

static void test_options(void) {
  vase_cache_options cache;
  vase_session_options session;
  struct {
    vase_engine_options options;
    char guard[8];
  } engine;
  vase_cache_options_init(&cache, sizeof cache);
  CHECK(cache.size == sizeof cache && cache.budget == 1024 && cache.buffer == 64 && cache.key_type == VASE_ROWS_F16);
  vase_session_options_init(&session, sizeof session);
  CHECK(session.max_tokens == 4096 && session.stops == NULL && session.stop_loops == 0 &&
        fabs(session.top_p - 0.95) < 1e-6);
  /* A caller of an older version has a shorter struct; what lies behind it stays. */
  memset(&engine, 0x55, sizeof engine);
  vase_engine_options_init(&engine.options, offsetof(vase_engine_options, path));
  CHECK(engine.options.size == offsetof(vase_engine_options, path) && engine.options.chunk == 256);
  CHECK(engine.options.path == 0x55555555 && engine.guard[0] == 0x55);
}

/* ---- A policy on arrays ---------------------------------------------------------------------------------------- */

/* One channel, keys ln 1 .. ln 5, one query of 1: candidate j gets (j + 1) / 10. */
static void line(vase_select_input* input, float keys[5], const float* zeros, const float* one) {
  int i;
  for (i = 0; i < 5; ++i) keys[i] = (float)log(i + 1.0);
  vase_select_input_init(input, sizeof *input);
  input->rows = 5;
  input->head_dim = 1;
  input->keys = keys;
  input->values = zeros;
  input->queries = one;
  input->query_tokens = 1;
  input->budget = 3;
  input->buffer = 1;
}

static void test_select(void) {
  static const float zeros[5], one[1] = {1};
  float keys[5];
  size_t count = 0;
  vase_select_input input;
  vase_selection* selection = NULL;
  vase_policy* policy = parsed("protect=sinks:1 score=attention:smooth=off");
  line(&input, keys, zeros, one);
  CHECK(vase_select(policy, &input, &selection) == VASE_OK);
  if (selection) {
    const uint32_t* kept = vase_selection_kept(selection, &count);
    const float* scores;
    CHECK(count == 3 && kept[0] == 0 && kept[1] == 3 && kept[2] == 4);
    scores = vase_selection_scores(selection, &count);
    CHECK(count == 4 && fabs(scores[3] - 0.4) < 1e-6);
    CHECK(vase_selection_protected(selection, &count)[0] == 0 && count == 1);
    vase_selection_log_weight(selection, &count);
    CHECK(count == 0);
  }
  vase_selection_free(selection);
  keys[2] = (float)NAN;
  CHECK_FAILS(vase_select(policy, &input, &selection), VASE_USAGE, "keys[2] is NaN");
  CHECK(selection == NULL);
  keys[2] = 0;
  input.budget = 6;
  CHECK_FAILS(vase_select(policy, &input, &selection), VASE_USAGE, "budget of 6");
  input.budget = 3;
  input.size = sizeof input + 8;
  CHECK_FAILS(vase_select(policy, &input, &selection), VASE_USAGE, "size is");
  vase_policy_free(policy);
}

/* ---- A scorer in C --------------------------------------------------------------------------------------------- */

static int my_score(void* user, const vase_head* head, float* out) {
  int32_t i;
  float* row = malloc(sizeof(float) * (size_t)head->head_dim);
  if (!row) return 12;
  for (i = 0; i < head->candidates; ++i) {
    vase_head_key(head, i, row);
    out[i] = row[0] * head->value_range[i];
  }
  free(row);
  return ((my_state*)user)->fail;
}

static void my_destroy(void* user) { ++((my_state*)user)->destroyed; }

vase_policy* with_my_scorer(const char* text, my_state* state) {
  vase_policy *policy = parsed(text), *result = NULL;
  vase_scorer scorer;
  vase_scorer_init(&scorer, sizeof scorer);
  scorer.name = "mine";
  scorer.score = my_score;
  scorer.user = state;
  scorer.destroy = my_destroy;
  scorer.value_range = 1;
  CHECK(vase_policy_with_scorer(policy, &scorer, &result) == VASE_OK);
  vase_policy_free(policy);
  return result;
}

static int attention_score(void* user, const vase_head* head, float* out) {
  (void)user;
  memcpy(out, head->attention, (size_t)head->candidates * sizeof(float));
  return 0;
}

/* Equal keys: of 4 candidates and the 2 newest tokens, the two queries see 5 and 6 slots. */
static void test_window_record(int over_all, float expected) {
  static const float rows[6] = {0, 0, 0, 0, 0, 0};
  size_t count = 0;
  vase_select_input input;
  vase_selection* selection = NULL;
  vase_policy *random = parsed("random"), *policy = NULL;
  vase_scorer scorer;
  vase_scorer_init(&scorer, sizeof scorer);
  scorer.name = "attention-record";
  scorer.score = attention_score;
  scorer.attention = VASE_ATTENTION_WINDOW_SUM;
  scorer.queries = 2;
  scorer.over_all = over_all;
  CHECK(vase_policy_with_scorer(random, &scorer, &policy) == VASE_OK);
  vase_select_input_init(&input, sizeof input);
  input.rows = 6;
  input.head_dim = 1;
  input.keys = input.values = rows;
  input.queries = rows;
  input.query_tokens = 2;
  input.budget = 4;
  input.buffer = 2;
  CHECK(vase_select(policy, &input, &selection) == VASE_OK);
  if (selection) {
    const float* scores = vase_selection_scores(selection, &count);
    CHECK(count == 4 && fabsf(scores[0] - expected) < 1e-6f && fabsf(scores[3] - expected) < 1e-6f);
  }
  vase_selection_free(selection);
  vase_policy_free(policy);
  vase_policy_free(random);
}

static void test_scorer(void) {
  static const float values[10] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5};
  static const float keys[10] = {9, 0, 1, 0, 2, 0, 1, 0, 7, 0}; /* products 9, 2, 6, 4 */
  my_state state = {0, 0};
  size_t count = 0;
  vase_select_input input;
  vase_selection* selection = NULL;
  vase_policy *policy = with_my_scorer("score=uniform", &state), *none = NULL;
  vase_scorer empty;
  CHECK(strcmp(vase_policy_text(policy), "score=mine select=top") == 0);
  vase_select_input_init(&input, sizeof input);
  input.rows = 5;
  input.head_dim = 2;
  input.keys = keys;
  input.values = values;
  input.budget = 3;
  input.buffer = 1;
  CHECK(vase_select(policy, &input, &selection) == VASE_OK);
  if (selection) {
    const uint32_t* kept = vase_selection_kept(selection, &count);
    CHECK(count == 3 && kept[0] == 0 && kept[1] == 2 && kept[2] == 4);
  }
  vase_selection_free(selection);
  state.fail = 7;
  CHECK_FAILS(vase_select(policy, &input, &selection), VASE_CALLBACK, "'mine' failed with 7");
  CHECK(state.destroyed == 0);
  vase_policy_free(policy);
  CHECK(state.destroyed == 1);

  vase_scorer_init(&empty, sizeof empty);
  policy = parsed("random");
  CHECK_FAILS(vase_policy_with_scorer(policy, &empty, &none), VASE_USAGE, "name is NULL");
  empty.name = "two words";
  empty.score = my_score;
  CHECK_FAILS(vase_policy_with_scorer(policy, &empty, &none), VASE_USAGE, "one word");
  empty.name = "empty";
  empty.temperature = (float)INFINITY;
  CHECK_FAILS(vase_policy_with_scorer(policy, &empty, &none), VASE_USAGE, "temperature must be finite");
  empty.temperature = 1;
  empty.threshold = (float)NAN;
  CHECK_FAILS(vase_policy_with_scorer(policy, &empty, &none), VASE_USAGE, "threshold must be finite");
  empty.score = NULL;
  CHECK_FAILS(vase_policy_with_scorer(policy, &empty, &none), VASE_USAGE, "`score` is NULL");
  vase_policy_free(policy);
}

void test_without_model(void) {
  test_version();
  test_policies();
  test_options();
  test_select();
  test_scorer();
  test_window_record(0, 2.0f / 4);
  test_window_record(1, 1.0f / 5 + 1.0f / 6);
}
