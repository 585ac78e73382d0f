// Cost of one eviction of every preset that evicts, and of the parts that no preset has.
//
// Shape: one KV head of a group of 4 query heads, head_dim 128, f16 rows, 4096 candidates and 64 tokens of buffer, of which
// 4032 are kept. One thread; the rows of 8 heads take turns, as in a step.
//
// Counters, in CPU time of the thread: us_head = Policy::plan for one head; ms_token = the evictions of 36 layers of 8 heads
// per decoded token, as one eviction serves the 64 tokens of a period. Threads share ms_token among them.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/huge_buffer.h"
#include "base/philox_draws.h"
#include "policies/tri_stats.h"
#include "vase/policy.h"

namespace vase {
namespace {

constexpr int kHeadDim = 128, kGroup = 4, kKvHeads = 8, kLayers = 36;
constexpr int kCandidates = 4096, kBuffer = 64, kSlots = kCandidates + kBuffer;
constexpr int kQueries = 64;
constexpr size_t kRowBytes = kHeadDim * sizeof(uint16_t);

double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What the views of all heads show. Rows differ from head to head, all else is shared.
class Heads {
 public:
  Heads() : rows_(size_t(2) * kKvHeads * kSlots * kRowBytes) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    auto* half = reinterpret_cast<uint16_t*>(rows_.data());
    for (size_t i = 0; i < rows_.size() / 2; ++i) half[i] = to_half(normal(random));
    queries_.resize(size_t(kQueries) * kGroup * kHeadDim);
    for (float& q : queries_) q = normal(random);
    for (int f = 0; f < kHeadDim / 2; ++f) frequencies_.push_back(std::pow(1e6f, -2.0f * float(f) / kHeadDim));
    for (int j = 0; j < kSlots; ++j) {
      slots_.push_back(static_cast<uint32_t>((j * 2049u) % kSlots));  // holes are filled, so order is not that of memory
      if (j >= kCandidates) continue;
      positions_.push_back(3 * j);
      attention_.push_back(std::abs(normal(random)) / 64);
      range_.push_back(std::abs(normal(random)));
      gaps_.push_back(j % 97);
      uses_.push_back(3 * j + gaps_.back());
      weights_.push_back(0);
    }
  }

  HeadView view(const PolicyNeeds& needs, int kv_head) const {
    HeadView head{.budget = kCandidates, .buffer = kBuffer, .prompt_tokens = 256, .group = kGroup};
    head.kv_head = kv_head;
    head.seen = 3 * kCandidates + kBuffer;
    head.positions = positions_;
    head.attention = attention_;
    head.attention_rows = kGroup * kBuffer;
    head.last_use = uses_;
    head.longest_gap = gaps_;
    head.value_range = range_;
    if (needs.log_weight) head.log_weight = weights_;
    head.keys = rows(2 * kv_head);
    head.values = rows(2 * kv_head + 1);
    head.queries = {queries_.data(), kQueries, 5, kQueries, kGroup, kHeadDim};
    head.rope = {.frequencies = frequencies_};
    return head;
  }

 private:
  RowsView rows(int index) const {
    return {rows_.data() + size_t(index) * kSlots * kRowBytes, kRowBytes, RowType::kF16, kHeadDim, slots_.data()};
  }

  HugeBuffer rows_;
  std::vector<float> queries_, frequencies_, attention_, range_, weights_;
  std::vector<int32_t> positions_, uses_, gaps_;
  std::vector<uint32_t> slots_;
};

void evict(benchmark::State& state, const std::string& text) {
  static const Heads heads;
  const Policy policy = Policy::parse(text);
  const PolicyNeeds needs = policy.needs();
  PolicyScratch scratch;
  std::vector<uint32_t> kept(kCandidates - kBuffer);
  uint32_t eviction = 0;
  const double start = thread_cpu_seconds();
  for (auto _ : state) {
    PhiloxDraws draws({.seed = 1, .eviction = eviction});
    policy.plan(heads.view(needs, static_cast<int>(eviction++ % kKvHeads)), draws, scratch, kept);
    benchmark::DoNotOptimize(kept.data());
  }
  const double head_us = (thread_cpu_seconds() - start) * 1e6 / static_cast<double>(state.iterations());
  state.counters["us_head"] = head_us;
  state.counters["ms_token"] = head_us / 1e3 * kLayers * kKvHeads / kBuffer;
}

void register_policy(const std::string& name, const std::string& text) {
  benchmark::RegisterBenchmark(name.c_str(), [text](benchmark::State& state) { evict(state, text); })
      ->Unit(benchmark::kMicrosecond);
}

// Means for a model of this shape, in a file, as the part reads them.
std::string made_up_stats() {
  TriStats stats{.heads = {1, kKvHeads, kGroup, kHeadDim}, .pairs = kHeadDim / 2};
  stats.mean.assign(size_t(kKvHeads) * kGroup * kHeadDim, 0.5f);
  stats.magnitude.assign(size_t(kKvHeads) * kGroup * kHeadDim / 2, 1.5f);
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
