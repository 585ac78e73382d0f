// Cost of one eviction of every preset that evicts, and of the parts that no preset has.
//
// Shape: one KV head of eviction_heads.h. One thread; the rows of 8 heads take turns, as in a step.
//
// Counters, in CPU time of the thread: us_head = Policy::plan for one head; ms_token = the evictions of 36 layers of 8
// heads per decoded token, as one eviction serves the 64 tokens of a period. Threads share ms_token among them.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/philox_draws.h"
#include "micro/eviction_heads.h"
#include "policies/tri_stats.h"
#include "vase/policy.h"

namespace vase {
namespace {

using Heads = bench::EvictionHeads;
constexpr int kKvHeads = 8, kLayers = 36;

double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void evict(benchmark::State& state, const std::string& text) {
  static const Heads heads(kKvHeads);
  const Policy policy = Policy::parse(text);
  const PolicyNeeds needs = policy.needs();
  PolicyScratch scratch;
  std::vector<uint32_t> kept(Heads::kKept);
  uint32_t eviction = 0;
  const double start = thread_cpu_seconds();
  for (auto _ : state) {
    PhiloxDraws draws({.seed = 1, .eviction = eviction});
    policy.plan(heads.view(needs, static_cast<int>(eviction++ % kKvHeads)), draws, scratch, kept);
    benchmark::DoNotOptimize(kept.data());
  }
  const double head_us = (thread_cpu_seconds() - start) * 1e6 / static_cast<double>(state.iterations());
  state.counters["us_head"] = head_us;
  state.counters["ms_token"] = head_us / 1e3 * kLayers * kKvHeads / Heads::kBuffer;
}

void register_policy(const std::string& name, const std::string& text) {
  benchmark::RegisterBenchmark(name.c_str(), [text](benchmark::State& state) { evict(state, text); })
      ->Unit(benchmark::kMicrosecond);
}

// Means for a model of this shape, in a file, as the part reads them.
std::string made_up_stats() {
  TriStats stats{.heads = {1, kKvHeads, Heads::kGroup, Heads::kHeadDim}, .pairs = Heads::kHeadDim / 2};
  stats.mean.assign(size_t(kKvHeads) * Heads::kGroup * Heads::kHeadDim, 0.5f);
  stats.magnitude.assign(size_t(kKvHeads) * Heads::kGroup * Heads::kHeadDim / 2, 1.5f);
  const std::string path = (std::filesystem::temp_directory_path() / "vase-eviction-bench.stats").string();
  write_tri_stats(stats, path);
  return path;
}

}  // namespace
}  // namespace vase

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const vase::PolicyInfo& preset : vase::Policy::presets()) {
    if (vase::Policy::parse(preset.name).evicts()) vase::register_policy(preset.name, preset.name);
  }
  const std::string stats = vase::made_up_stats();
  vase::register_policy("triattention", "protect=prompt score=triattention:stats=" + stats);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove(stats);
}
