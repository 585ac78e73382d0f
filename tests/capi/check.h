/* What the files of the C test share. */
#ifndef VASE_TESTS_CAPI_CHECK_H_
#define VASE_TESTS_CAPI_CHECK_H_

#include <stdio.h>
#include <string.h>

#include "vase/vase.h"

extern int capi_failures;

#define CHECK(condition)                                                                             \
  do {                                                                                               \
    if (!(condition)) {                                                                              \
      printf("%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, #condition, vase_error_message()); \
      ++capi_failures;                                                                                    \
    }                                                                                                \
  } while (0)

/* The call must fail with this status and a message that holds this text. */
#define CHECK_FAILS(call, status, text)                                                              \
  do {                                                                                               \
    const vase_status got = (call);                                                                  \
    if (got != (status) || !strstr(vase_error_message(), (text))) {                                  \
      printf("%s:%d: %s gave %d '%s'\n", __FILE__, __LINE__, #call, (int)got, vase_error_message()); \
      ++capi_failures;                                                                                    \
    }                                                                                                \
  } while (0)

/* The policy that a text stands for. */
vase_policy* parsed(const char* text);

typedef struct {
  int fail, destroyed;
} my_state;

/* A policy with a scorer "mine", the first channel of the key times the range of the value, which returns state->fail
 * and counts how often it was destroyed. */
vase_policy* with_my_scorer(const char* text, my_state* state);

/* The parts of the test: without a model, and with the one at `path`. */
void test_without_model(void);
void test_with_model(const char* path);

#endif /* VASE_TESTS_CAPI_CHECK_H_ */
