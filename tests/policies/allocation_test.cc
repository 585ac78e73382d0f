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
  std::vector<std::string> texts = {"vase-attnv protect+=prompt:10% order=score",
                                    "curdkv order=score",
                                    "lagkv order=score",
                                    "r-kv-original order=score",
                                    "protect=random:10,value:30,measure=l2 score=leverage:sketch=off select=sample",
                                    "protect=sinks:4 score=value:measure=var,keep=small"};
  for (const PolicyInfo& preset : Policy::presets()) {
    if (Policy::parse(preset.name).evicts()) texts.push_back(preset.name);
  }
  TestHead head({.candidates = 512, .budget = 512, .buffer = 64, .prompt = 30, .head_dim = 128, .shuffled = true});
  PolicyScratch scratch;
  PhiloxDraws draws({});
  std::vector<uint32_t> kept(head.view.keep());
  for (const std::string& text : texts) {
    const Policy policy = Policy::parse(text);
    const HeadView view = head.view_for(policy.needs());
    scratch.reserve(512 + 64, 128, 64, PolicyScratch::work_for(policy.needs(), 2, 512 + 64, 128));
    const size_t before = allocations;
    policy.plan(view, draws, scratch, kept);
    EXPECT_EQ(allocations, before) << text;
  }
  const size_t before = allocations;
  EXPECT_EQ(plan_of("snapkv", head.view).size(), 448u);
  EXPECT_GT(allocations, before);  // the counter works
}

}  // namespace
}  // namespace vase
