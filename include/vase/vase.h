/* The library in plain C (C99 and later, and C++). The same things under the same names as the C++ headers, which say
 * more about what each one means; words and letters are those of docs/layouts.md.
 *
 * Conventions
 *  1. Handles. vase_policy, vase_model, vase_engine, vase_session and vase_selection are opaque. Each has a function
 *     that makes it and a vase_..._free() that gives it back; freeing NULL does nothing. Handles may be freed in any
 *     order: what still uses the thing behind a handle keeps it alive.
 *  2. Errors. A function that can fail returns a vase_status: VASE_OK, which is 0, or what kind of thing went wrong.
 *     Then vase_error_message() holds one line for people. What a function was to write through its pointers is left
 *     as it was, but a handle that it was to make is NULL.
 *  3. NULL. Pointers must not be NULL unless it is said that they may; a NULL that must not be one is VASE_USAGE.
 *  4. Ownership. What you pass in is yours: it is read during the call, or copied. What a function returns a pointer to
 *     belongs to the handle that it came from, and lives as long as that handle unless it says "until".
 *  5. Text. UTF-8. What goes in ends with NUL or comes with its size in bytes; what comes out as a pointer ends with NUL.
 *  6. Arrays and texts that are copied out. The caller gives memory and its capacity; the size that the whole takes is
 *     always reported, and as much as fits is written. To ask for the size alone, give NULL and 0. For texts the
 *     capacity counts the NUL at the end and the size does not, so a text was cut if size >= capacity.
 *  7. Structs that can grow. Option and result structs come with the sizeof() that the caller was compiled with, as an
 *     argument or in their first member `size`. Later versions only add members at the end. Set defaults by the init
 *     function, then change what you like.
 *  8. Threads. One thread at a time may call an engine, its sessions included; vase_session_cancel() may come from any
 *     thread. Models, policies and selections may be read from any number of threads. Errors belong to the thread.
 *  9. Callbacks get the `user` pointer that was given with them. They must return: no exception and no longjmp() may
 *     leave them. Text and logits callbacks run on the thread that made the call; a scorer may run on several threads
 *     at once.
 * 10. Versions. VASE_VERSION_* of this header and vase_version_number() of the library may differ in the patch number,
 *     and from 1.0 on the library may be of a later minor version. Promises: docs/versioning.md.
 */
#ifndef VASE_VASE_H_
#define VASE_VASE_H_

#include <stddef.h>
#include <stdint.h>

#include "vase/export.h"
#include "vase/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and errors ---------------------------------------------------------------------------------------- */

/* VASE_VERSION_NUMBER of the library, and the same as text: "0.1.0". */
VASE_API int vase_version_number(void);
VASE_API const char* vase_version(void);

typedef enum vase_status {
  VASE_OK = 0,
  VASE_USAGE = 1,       /* a value that the caller may set is out of its range; the message says what is allowed */
  VASE_NOT_FOUND = 2,   /* a file or a named thing does not exist */
  VASE_CORRUPT = 3,     /* a file is damaged or not of the expected format */
  VASE_UNSUPPORTED = 4, /* well-formed, but not something this version can run */
  VASE_RESOURCE = 5,    /* memory, disk or another limit of the machine */
  VASE_NON_FINITE = 6,  /* the model produced NaN or infinity where a number is needed */
  VASE_CALLBACK = 7,    /* a scorer of the caller's own reported that it failed */
  VASE_INTERNAL = 8     /* a defect of the library */
} vase_status;

/* What the last failure on this thread was, until the next one; "" before the first. */
VASE_API const char* vase_error_message(void);

/* ---- Policies -------------------------------------------------------------------------------------------------- */

typedef struct vase_policy vase_policy;

/* A preset's name, a composition, or a preset with changes, as in "vase-attnv protect+=prompt" (docs/policies.md). */
VASE_API vase_status vase_policy_parse(const char* text, vase_policy** policy);
VASE_API void vase_policy_free(vase_policy* policy);
/* Canonical text: parsing it gives the same policy, unless it has a scorer of the caller's own. */
VASE_API const char* vase_policy_text(const vase_policy* policy);

typedef struct vase_preset {
  const char* name;
  const char* summary; /* one line */
  const char* source;  /* paper or "control" */
  const char* text;    /* the composition that it stands for */
} vase_preset;

/* How many presets there are; preset number `index`, which lives for ever. size: sizeof *preset. */
VASE_API size_t vase_preset_count(void);
VASE_API vase_status vase_preset_get(size_t index, vase_preset* preset, size_t size);

/* ---- A scorer of one's own ------------------------------------------------------------------------------------- */

/* What is kept per slot about the attention that it received. */
enum {
  VASE_ATTENTION_NONE = 0,
  VASE_ATTENTION_WINDOW_SUM = 1,
  VASE_ATTENTION_WINDOW_SQUARES = 2,
  VASE_ATTENTION_WINDOW_MAX = 3,
  VASE_ATTENTION_LIFETIME_SUM = 4,
  VASE_ATTENTION_RECURRENCE = 5
};

/* One KV head at the moment of an eviction: C candidates, ascending in position, then the R newest slots. What the
 * scorer did not ask for is NULL or 0. Lives during the call. */
typedef struct vase_head {
  int32_t candidates, budget, buffer;  /* C, M, R */
  int32_t head_dim, group;             /* d; G query heads share this KV head */
  int32_t prompt_tokens;               /* positions below it belong to the prompt */
  int32_t layer, kv_head;
  int64_t seen;                        /* the newest token has position seen - 1 */
  const int32_t* positions;            /* [C] */
  const float* attention;              /* [C] the record that was asked for */
  int32_t attention_rows;              /* W G, probability rows in a window record */
  const int32_t* last_use;             /* [C] of VASE_ATTENTION_RECURRENCE */
  const int32_t* longest_gap;          /* [C] the same */
  const float *value_range, *norm_product; /* [C] max - min of each value row; |k| |v| */
  const float* log_weight;             /* [C] */
  int32_t queries;                     /* tokens whose queries are held: vase_head_query() */
  int32_t rope_pairs;
  const float* rope_frequencies;       /* [rope_pairs] radians per position */
  int32_t rope_adjacent;               /* channel pair f is (2f, 2f + 1) instead of (f, f + pairs) */
  float rope_magnitude;
  const void* internal;
} vase_head;

/* Key or value row i of the C + R, decoded to out [d]. */
VASE_API void vase_head_key(const vase_head* head, int32_t i, float* out);
VASE_API void vase_head_value(const vase_head* head, int32_t i, float* out);
/* Query [d] of head g for the w-th token held, w = 0 the oldest. */
VASE_API const float* vase_head_query(const vase_head* head, int32_t w, int32_t g);
/* out [C]: U[0,1) drawn for each candidate, by the seed of the evictions. */
VASE_API void vase_head_uniform(const vase_head* head, float* out);

typedef struct vase_scorer {
  size_t size;        /* sizeof(vase_scorer) */
  const char* name;   /* one printable word: what texts and messages call it */
  /* Writes one number per candidate to out [C]; larger means more worth keeping. 0, or any other number for a failure:
   * then the step ends with VASE_CALLBACK, and this eviction keeps the newest tokens. Must depend on nothing but its
   * arguments. */
  int (*score)(void* user, const vase_head* head, float* out);
  void* user;              /* may be NULL */
  void (*destroy)(void*);  /* called with `user` when nothing uses the scorer any more; may be NULL */
  /* What the engine must keep for it; nothing costs nothing. */
  int32_t attention;       /* VASE_ATTENTION_... */
  int32_t over_all;        /* 0 or 1: window records over all slots used, not over the candidates */
  int32_t value_range, norm_product, log_weight, rope; /* 0 or 1 */
  int32_t queries;         /* newest queries to hold (tokens) */
  float temperature;       /* of window records; 1 */
  float threshold;         /* of the recurrence record */
} vase_scorer;

/* Zeros, the size, and temperature 1. */
VASE_API void vase_scorer_init(vase_scorer* scorer, size_t size);
/* The same policy with `scorer` (copied) in place of its `score=`. Without success `destroy` is not called. */
VASE_API vase_status vase_policy_with_scorer(const vase_policy* policy, const vase_scorer* scorer,
                                             vase_policy** result);

/* ---- Models ---------------------------------------------------------------------------------------------------- */

typedef struct vase_model vase_model;

typedef struct vase_shape {
  const char* architecture;
  const char* name;
  const char* fingerprint; /* 16 hex digits that identify the file */
  int32_t layers, query_heads, kv_heads, head_dim, embedding, vocabulary;
  int32_t trained_context; /* positions seen in training */
  uint64_t file_bytes;
} vase_shape;

typedef struct vase_message {
  const char* role;    /* "system", "user", "assistant" */
  const char* content;
} vase_message;

VASE_API vase_status vase_model_load(const char* path, vase_model** model);
VASE_API void vase_model_free(vase_model* model);
VASE_API vase_status vase_model_shape(const vase_model* model, vase_shape* shape, size_t size);
/* Tokens of a text of `bytes` bytes. special: begins with the tokens that the model wants at the start, 0 or 1. */
VASE_API vase_status vase_model_tokenize(const vase_model* model, const char* text, size_t bytes, int special,
                                         int32_t* tokens, size_t capacity, size_t* count);
/* Bytes of one token; may be a part of a character, and may hold NULs. */
VASE_API vase_status vase_model_piece(const vase_model* model, int32_t token, char* text, size_t capacity,
                                      size_t* bytes);
VASE_API int vase_model_ends_generation(const vase_model* model, int32_t token);
VASE_API int vase_model_has_chat_template(const vase_model* model);
/* The conversation as the file's own template writes it, ready for the model to answer. */
VASE_API vase_status vase_model_render_chat(const vase_model* model, const vase_message* messages,
                                            size_t messages_count, char* text, size_t capacity, size_t* bytes);
/* The same as tokens. A special token that is spelled inside of a message counts as ordinary text. */
VASE_API vase_status vase_model_tokenize_chat(const vase_model* model, const vase_message* messages,
                                              size_t messages_count, int32_t* tokens, size_t capacity, size_t* count);

/* ---- Options --------------------------------------------------------------------------------------------------- */

enum { VASE_ROWS_F32 = 0, VASE_ROWS_F16 = 1, VASE_ROWS_BF16 = 2, VASE_ROWS_Q8_0 = 3, VASE_ROWS_Q4_0 = 4 };
enum { VASE_PREFILL_EVICTING = 0, VASE_PREFILL_DENSE = 1 };
enum { VASE_TRIGGER_GENERAL = 0, VASE_TRIGGER_PARITY = 1 };
enum { VASE_POSITIONS_TEXT = 0, VASE_POSITIONS_CACHE = 1 };
enum { VASE_LAYERS_UNIFORM = 0, VASE_LAYERS_PYRAMID = 1 };
enum { VASE_PATH_FUSED = 0, VASE_PATH_REFERENCE = 1 };

/* KV memory and what is kept in it. */
typedef struct vase_cache_options {
  size_t size;
  int32_t budget;      /* M (tokens); 1024. With a policy that reads: tokens read per step and head */
  int32_t buffer;      /* R (tokens); 64 */
  double budget_mib;   /* > 0: solve M from this many MiB for all sequences together */
  int32_t period;      /* tokens from one eviction to the next; 0 = R */
  int32_t key_type, value_type; /* VASE_ROWS_...; f16 */
  int32_t prefill;     /* VASE_PREFILL_... */
  int32_t max_prompt;  /* longest prompt with dense prefill (tokens) */
  int32_t trigger;     /* VASE_TRIGGER_... */
  int32_t positions;   /* VASE_POSITIONS_... */
  int32_t context;     /* positions that a sequence may reach; 0 = 1,048,576, with policies that never evict the trained
                        * context */
  int32_t layer_budgets; /* VASE_LAYERS_...; with a pyramid M falls from the first layer to the last, and is the mean */
  float pyramid_beta;  /* 20: the last layer keeps (M - R) / beta beside its buffer */
  int32_t stagger;     /* 0 or 1; 1: from the second eviction of a sequence on, layers evict at different steps, so that
                        * none stalls. Only with the general trigger, equal budgets, share=head and a period of at
                        * least R */
  int32_t auto_types;  /* 0 or 1; 1: budget_mib, which must be set, decides on key_type and value_type as well as on M:
                        * the most precise of f16; q8_0; q8_0 keys with q4_0 values; q4_0, with which the longest text
                        * fits without an eviction, else the types with which most of it does. 0 */
  int32_t expected_tokens; /* with auto_types: the longest text that will come (tokens); 0 = context */
} vase_cache_options;

/* Performance and diagnosis. */
typedef struct vase_engine_options {
  size_t size;
  int32_t sequences;        /* sessions that can run at the same time; 1 */
  int32_t threads;          /* 0 = number of physical cores */
  int32_t chunk;            /* most prompt tokens per step; 256 */
  int32_t logit_rows;       /* most logit rows per step of vase_engine_force(); 1 */
  int32_t path;             /* VASE_PATH_... */
  int32_t poison_free_rows; /* fills free rows with NaN, 0 or 1; 0 */
  int32_t log_evictions;    /* keeps the kept positions of every eviction, 0 or 1; 0 */
} vase_engine_options;

typedef struct vase_session_options {
  size_t size;
  float temperature;        /* 0.6; 0 = greedy */
  float top_p;              /* 0.95; 1 = off */
  float min_p;              /* 0 = off */
  float repetition_penalty; /* 1 = off */
  int32_t repetition_window; /* 64 (tokens) */
  int32_t top_k;            /* 0 = off */
  uint64_t seed;            /* of the text */
  uint64_t evict_seed;      /* of the evictions */
  uint32_t stream;          /* tells the evictions of sessions with equal evict_seed apart */
  int32_t max_tokens;       /* 4096 */
  const char* const* stops; /* [stops_count] texts that end the generation; may be NULL */
  size_t stops_count;
  int32_t ignore_eos;       /* 0 or 1; 0 */
  int32_t stop_loops;       /* repeats of an exact loop that end the text, 3 to 1000 (vase/options.h); 0 = off */
} vase_session_options;

/* Set the defaults. size: sizeof *options. */
VASE_API void vase_cache_options_init(vase_cache_options* options, size_t size);
VASE_API void vase_engine_options_init(vase_engine_options* options, size_t size);
VASE_API void vase_session_options_init(vase_session_options* options, size_t size);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* bytes = layers x kv_heads x ((capacity - recent) x (key_row + value_row)
           + recent x (recent_key_row + recent_value_row)
           + capacity x metadata + query_ring) x sequences + unused + summaries + scratch */
typedef struct vase_memory_plan {
  int32_t layers, kv_heads, sequences;
  int32_t budget, buffer, capacity;       /* slots; capacity is how many exist per layer, KV head and sequence */
  int32_t key_row, value_row, metadata;   /* bytes per slot */
  uint64_t scratch, bytes;
  int32_t period;                         /* tokens from one eviction to the next */
  int32_t read;                           /* tokens read per step by a policy that reads a part; 0 = all */
  uint64_t query_ring;                    /* bytes of newest queries per layer, KV head and sequence */
  uint64_t summaries;                     /* bytes that a policy that reads keeps about its blocks */
  int32_t first_budget, last_budget;      /* M of the first and the last layer; `budget` and capacity are means */
  int32_t recent;                         /* newest slots whose rows are not quantised yet; 0 without quantised types */
  int32_t recent_key_row, recent_value_row;  /* bytes of such a row */
  uint64_t unused;                        /* bytes at the ends of strips that no slot uses */
  int32_t key_type, value_type;           /* VASE_ROWS_...; chosen, with auto_types */
} vase_memory_plan;

/* What a cache for the model file at `path` would cost; reads its header alone. Options may be NULL: the defaults. */
VASE_API vase_status vase_plan_memory(const char* path, const vase_policy* policy, const vase_cache_options* cache,
                                      const vase_engine_options* engine, vase_memory_plan* plan, size_t size);

/* ---- Engines and sessions -------------------------------------------------------------------------------------- */

typedef struct vase_engine vase_engine;
typedef struct vase_session vase_session;

typedef struct vase_counters {
  int64_t tokens_seen; /* prompt and generated tokens in the cache's past */
  int64_t slots_used;  /* per layer and KV head; of the first layer, where layers evict at different steps */
  int64_t evicted;     /* tokens dropped so far, per layer and KV head */
  int64_t evictions;   /* times that a head has evicted */
  int64_t first_eviction; /* tokens seen at the first of them; 0 = not yet */
} vase_counters;

enum {
  VASE_RUNNING = 0,
  VASE_END_OF_TEXT = 1,
  VASE_STOP_STRING = 2,
  VASE_MAX_TOKENS = 3,
  VASE_CONTEXT_FULL = 4,
  VASE_CANCELLED = 5,
  VASE_NONFINITE_LOGITS = 6,
  VASE_REPETITION = 7 /* stop_loops */
};

/* Text that is safe to show (whole characters, no part of a stop string); also called, perhaps with 0 bytes, when the
 * session has finished. `text` lives during the call. It may submit, cancel and free sessions, not step or force. */
typedef void (*vase_on_text)(void* user, vase_session* session, const char* text, size_t bytes);
/* logits [vocabulary] that follow the token at `position`; live during the call. */
typedef void (*vase_on_logits)(void* user, int64_t position, const float* logits, size_t vocabulary);

/* Allocates all that its steps will ever need. Options may be NULL: the defaults. */
VASE_API vase_status vase_engine_new(const vase_model* model, const vase_policy* policy,
                                     const vase_cache_options* cache, const vase_engine_options* options,
                                     vase_engine** engine);
VASE_API void vase_engine_free(vase_engine* engine);
/* Queues a prompt. Options may be NULL. */
VASE_API vase_status vase_engine_submit(vase_engine* engine, const int32_t* prompt, size_t count,
                                        const vase_session_options* options, vase_session** session);
/* One step for all running sessions: a chunk of prompt or one new token each. on_text may be NULL. *left: sessions that
 * are still running or queued; 0 when there is nothing to do. */
VASE_API vase_status vase_engine_step(vase_engine* engine, vase_on_text on_text, void* user, int32_t* left);
/* Teacher forcing: feeds tokens to a fresh sequence and calls back with the logits that follow each. The first
 * prompt_tokens count as the prompt. VASE_NON_FINITE at logits that are no numbers. Options and counters may be NULL. */
VASE_API vase_status vase_engine_force(vase_engine* engine, const int32_t* tokens, size_t count, int32_t prompt_tokens,
                                       const vase_session_options* options, vase_on_logits on_logits, void* user,
                                       vase_counters* counters, size_t counters_size);
VASE_API vase_status vase_engine_memory(const vase_engine* engine, vase_memory_plan* plan, size_t size);
/* Scores that were NaN or infinite, and evictions at which protected tokens did not fit. */
VASE_API uint64_t vase_engine_nonfinite_scores(const vase_engine* engine);
VASE_API uint64_t vase_engine_protection_truncated(const vase_engine* engine);

/* Cancels the session if it still runs; no text of it is delivered any more. */
VASE_API void vase_session_free(vase_session* session);
/* From any thread; takes effect within one step. */
VASE_API void vase_session_cancel(vase_session* session);
VASE_API int32_t vase_session_finish(const vase_session* session); /* VASE_RUNNING, ... */
VASE_API const char* vase_finish_name(int32_t finish);             /* "running", "eos", "stop", "length", ... */
VASE_API int32_t vase_session_prompt_tokens(const vase_session* session);
/* The generated tokens, until the next step. */
VASE_API const int32_t* vase_session_generated(const vase_session* session, size_t* count);
VASE_API vase_status vase_session_counters(const vase_session* session, vase_counters* counters, size_t size);

typedef struct vase_eviction {
  int32_t layer, kv_head;
  int64_t number;          /* of the eviction, per head */
  const int32_t* kept;     /* [kept_count] positions, the buffer last; until the next step */
  size_t kept_count;
  int64_t seen;            /* tokens seen: the newest has position seen - 1 */
  int32_t candidates, buffer, prompt_tokens; /* C, R, P */
  double value_similarity; /* mean |cos| between kept values, the buffer left out; NaN for fewer than two */
} vase_eviction;

/* The log of evictions, if log_evictions is on. */
VASE_API size_t vase_session_eviction_count(const vase_session* session);
VASE_API vase_status vase_session_eviction(const vase_session* session, size_t index, vase_eviction* eviction,
                                           size_t size);

/* ---- A policy on arrays ---------------------------------------------------------------------------------------- */

/* One KV head. Arrays are dense, row-major and finite; vase/select.h says more. */
typedef struct vase_select_input {
  size_t size;
  int32_t rows, head_dim;          /* n, d */
  const float* keys;               /* [n][d] rotated at their positions: the candidates, then the R newest tokens */
  const float* values;             /* [n][d] */
  const int32_t* positions;        /* [n] ascending; NULL = 0 .. n-1 */
  const float* queries;            /* [W][G][d] of the W newest tokens, oldest first; NULL when the policy needs none */
  int32_t query_tokens, group;     /* W; G = 1 */
  int32_t budget, buffer;          /* M; R = 64 */
  int32_t prompt_tokens;           /* P */
  int32_t rope_pairs;
  const float* rope_frequencies;   /* [rope_pairs] for policies that turn keys back; may be NULL */
  int32_t rope_adjacent;
  float rope_magnitude;            /* 1 */
  const float* log_weight;         /* [n]; may be NULL: zeros */
  int32_t layer, kv_head, layers, kv_heads;  /* which head this is, of how many; 0 */
  uint64_t seed;
  uint32_t stream, eviction;
} vase_select_input;

typedef struct vase_selection vase_selection;

/* Zeros but for the defaults above. */
VASE_API void vase_select_input_init(vase_select_input* input, size_t size);
VASE_API vase_status vase_select(const vase_policy* policy, const vase_select_input* input, vase_selection** selection);
VASE_API void vase_selection_free(vase_selection* selection);
/* Indices of the M rows that stay: K candidates, then the R newest. */
VASE_API const uint32_t* vase_selection_kept(const vase_selection* selection, size_t* count);
/* Scores of the C candidates. */
VASE_API const float* vase_selection_scores(const vase_selection* selection, size_t* count);
/* Indices of the candidates that rules have claimed, in claiming order. */
VASE_API const uint32_t* vase_selection_protected(const vase_selection* selection, size_t* count);
/* Log-weights of the rows that stay; none unless the policy needs them. */
VASE_API const float* vase_selection_log_weight(const vase_selection* selection, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* VASE_VASE_H_ */
