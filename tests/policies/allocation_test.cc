// plan() allocates nothing once its scratch has been reserved.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "policies/test_head.h"

namespace {

size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace vase {
namespace {

TEST(Allocation, PlanAllocatesNothing) {
  const std::vector<std::string> texts = {"vase-attnv protect+=prompt:10% order=score",
                                          "vase-dkv",
                                          "curdkv order=score",
                                          "snapkv",
                                          "random-prompt",
                                          "protect=random:10,value:30,measure=l2 score=leverage:sketch=off select=sample",
                                          "protect=sinks:4 score=value:measure=var,keep=small"};
  const TestHead head({.candidates = 512, .budget = 512, .buffer = 64, .prompt = 30, .head_dim = 128, .shuffled = true});
  PolicyScratch scratch;
  scratch.reserve(512, 128);
  PhiloxDraws draws({});
  std::vector<uint32_t> kept(head.view.keep());
  for (const std::string& text : texts) {
    const Policy policy = Policy::parse(text);
    const size_t before = allocations;
    policy.plan(head.view, draws, scratch, kept);
    EXPECT_EQ(allocations, before) << text;
  }
  const size_t before = allocations;
  EXPECT_EQ(plan_of("snapkv", head.view).size(), 448u);
  EXPECT_GT(allocations, before);  // the counter works
}

}  // namespace
}  // namespace vase
