/* c_stream MODEL PROMPT: streams an answer, in plain C. */
#include <stdio.h>
#include <stdlib.h>

#include "vase/vase.h"

static void print_text(void* user, vase_session* session, const char* text, size_t bytes) {
  (void)user, (void)session;
  fwrite(text, 1, bytes, stdout);
  fflush(stdout);
}

/* Ends the program with the library's message. */
static void check(vase_status status) {
  if (status == VASE_OK) return;
  fprintf(stderr, "error: %s\n", vase_error_message());
  exit(status == VASE_USAGE ? 2 : 1);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: c_stream MODEL PROMPT\n");
    return 2;
  }
  vase_model* model;
  vase_policy* policy;
  vase_engine* engine;
  vase_session* session;
  check(vase_model_load(argv[1], &model));
  check(vase_policy_parse("vase-dkv", &policy));

  vase_cache_options cache;
  vase_cache_options_init(&cache, sizeof cache);
  cache.budget = 256;
  check(vase_engine_new(model, policy, &cache, NULL, &engine));

  const vase_message question = {"user", argv[2]};
  size_t count;
  check(vase_model_tokenize_chat(model, &question, 1, NULL, 0, &count));
  int32_t* prompt = malloc(count * sizeof *prompt);
  if (!prompt) return 1;
  check(vase_model_tokenize_chat(model, &question, 1, prompt, count, &count));

  vase_session_options options;
  vase_session_options_init(&options, sizeof options);
  options.max_tokens = 400;
  check(vase_engine_submit(engine, prompt, count, &options, &session));
  free(prompt);
  for (int32_t left = 1; left > 0;) check(vase_engine_step(engine, print_text, NULL, &left));

  fprintf(stderr, "\nended by %s\n", vase_finish_name(vase_session_finish(session)));
  vase_session_free(session);
  vase_engine_free(engine);
  vase_policy_free(policy);
  vase_model_free(model);
  return 0;
}
