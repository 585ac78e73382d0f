// No step takes memory from the heap, whether heads evict in it or not: every allocation of this process is counted.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>

#include "engine/attention_driver.h"
#include "support/resident.h"

namespace {

// volatile: compilers take it that operator new does not look at variables of the program.
thread_local volatile bool counting = false;
std::atomic<int> allocations{0};

void count() {
  if (counting) ++allocations;
}

}  // namespace

// operator new and std::vector end here. A sanitizer has these functions for itself.
#ifdef __has_feature  // clang's way to tell
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VASE_SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(VASE_SANITIZED)
#pragma GCC visibility push(default)  // for the C++ library, which is another object
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* old, size_t size) {
  count();
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  count();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : 12;  // ENOMEM
}
}
#pragma GCC visibility pop
#endif

namespace vase {
namespace {

// Allocations of the attention over the tokens, fed in chunks: of one token for decode.
int allocations_of(const std::string& policy, CacheOptions cache, int threads, int chunk, int tokens) {
  test::Driver driver(test::FakeModel{}, policy, cache, {.sequences = 2, .threads = threads, .chunk = 64});
  driver.before = [] { counting = true; };
  driver.after = [] { counting = false; };
  Sequence a = driver.start(0, 0, 9), b = driver.start(1, 1, 9);
  allocations = 0;
  for (int fed = 0; fed < tokens; fed += chunk) {
    int n = chunk;
    if (Policy::parse(policy).share != Share::kHead) n = driver.plan().attention.schedule.next_run(a, chunk).tokens;
    driver.step({&a, &b}, {n, n});
  }
  EXPECT_GT(a.evictions, 2) << policy;
  driver.attention().rethrow_error();
  return allocations;
}

TEST(Allocation, IsCounted) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer allocates in its own way";
  allocations = 0;
  counting = true;
  std::vector<float>* volatile kept = new std::vector<float>(100);  // volatile: must not be left out
  delete kept;
  counting = false;
  EXPECT_EQ(allocations, 2);
}

TEST(Allocation, NoneInAStep) {
  if (test::sanitized()) GTEST_SKIP() << "a sanitizer allocates in its own way";
  for (const PolicyInfo& preset : Policy::presets()) {
    const std::string policy(preset.name);
    if (!Policy::parse(policy).evicts()) continue;
    for (const bool stagger : {true, false}) {
      const CacheOptions cache{.budget = 48, .buffer = 16, .stagger = stagger};
      EXPECT_EQ(allocations_of(policy, cache, 1, 1, 200), 0) << policy << ", token by token";
      EXPECT_EQ(allocations_of(policy, cache, 1, 40, 200), 0) << policy << ", in chunks";
    }
    EXPECT_EQ(allocations_of(policy, {.budget = 48, .buffer = 16}, 3, 1, 200), 0)
        << policy << ", heads shared by threads";
  }
  EXPECT_EQ(allocations_of("vase-dkv",
                           {.budget = 48, .buffer = 16, .layer_budgets = LayerBudgets::kPyramid, .pyramid_beta = 2}, 1,
                           1, 250),
            0);
}

}  // namespace
}  // namespace vase
