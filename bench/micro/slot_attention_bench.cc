// Speed of slot attention on cold data, measured against the machine's read bandwidth in the same run.
//
// Shape: 32 query heads over 8 KV heads, head_dim 128, f16 rows, two threads that take half of the KV heads
// each. Every iteration attends in one layer; layers are cycled over at least 512 MiB, so rows come from
// memory. Between iterations the same two threads read 512 MiB linearly, since bandwidth on shared machines
// drifts within minutes.
//
// Counters: us = median time per layer, GBps = row bytes / us, ref_GBps = median of the linear reads, frac =
// their ratio; mass_cost = extra time with attention mass. Prefill: CPU time in ns per (token, visible slot)
// of one KV head on one thread, beside decode's own figure, both cold.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "base/half.h"
#include "base/huge_buffer.h"
#include "kernels/slot_attention/slot_attention.h"

namespace vase::kernels {
namespace {

constexpr int kHeadDim = 128, kGroup = 4, kKvHeads = 8, kThreads = 2;
constexpr size_t kRowBytes = kHeadDim * sizeof(uint16_t);
constexpr size_t kColdBytes = size_t{512} << 20;
constexpr size_t kReferenceBytes = size_t{512} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Runs work(thread) on kThreads threads and returns the seconds between their common start and the last one's
// end.
template <class Work>
double timed_on_threads(Work work) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(work, t);
  work(0);
  for (auto& thread : threads) thread.join();
  return seconds_since(start);
}

HugeBuffer random_halves(size_t bytes) {
  HugeBuffer buffer(bytes);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> some(1 << 16);
  for (auto& h : some) h = to_half(normal(random));
  auto* at = reinterpret_cast<uint16_t*>(buffer.data());
  for (size_t i = 0; i < bytes / 2; ++i) at[i] = some[i * 2654435761u >> 7 & 0xffff];
  return buffer;
}

// GB/s of a linear read by all threads.
double reference_bandwidth() {
  static const HugeBuffer buffer(kReferenceBytes);
  const double seconds = timed_on_threads([&](int thread) {
    const size_t words = kReferenceBytes / sizeof(uint64_t) / kThreads;
    const auto* at = reinterpret_cast<const uint64_t*>(buffer.data()) + thread * words;
    uint64_t sums[32] = {};
    for (size_t i = 0; i < words; i += 32) {
      for (int j = 0; j < 32; ++j) sums[j] += at[i + j];
    }
    for (uint64_t sum : sums) benchmark::DoNotOptimize(sum);
  });
  return kReferenceBytes / seconds / 1e9;
}

// One layer's cache and queries: [kv_head][slot][head_dim], K and V apart.
class Layers {
 public:
  explicit Layers(int slots)
      : slots_(slots),
        layers_(static_cast<int>(std::max<size_t>(1, kColdBytes / (2 * kKvHeads * slots * kRowBytes)))),
        rows_(random_halves(size_t(layers_) * 2 * kKvHeads * slots * kRowBytes)),
        q_(kKvHeads * kGroup * kHeadDim),
        out_(q_.size()),
        mass_(kKvHeads * slots) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (float& x : q_) x = normal(random);
  }

  int count() const { return layers_; }
  size_t bytes_per_layer() const { return 2 * kKvHeads * slots_ * kRowBytes; }

  SlotAttentionArgs args(int layer, int kv_head, bool mass) {
    SlotAttentionArgs args;
    args.head_dim = kHeadDim;
    args.group = kGroup;
    args.slots_before = slots_ - 1;
    args.scale = 1 / std::sqrt(static_cast<float>(kHeadDim));
    args.q = q_.data() + kv_head * kGroup * kHeadDim;
    args.out = out_.data() + kv_head * kGroup * kHeadDim;
    args.q_head_stride = args.out_head_stride = kHeadDim;
    args.k = view(2 * layer * kKvHeads + kv_head);
    args.v = view((2 * layer + 1) * kKvHeads + kv_head);
    if (mass) args.mass = {.sum = mass_.data() + kv_head * slots_, .candidates = std::max(1, slots_ - 64)};
    return args;
  }

 private:
  RowsView view(int index) const {
    return {rows_.data() + size_t(index) * slots_ * kRowBytes, kRowBytes, RowType::kF16, kHeadDim, nullptr};
  }

  int slots_, layers_;
  HugeBuffer rows_;
  std::vector<float> q_, out_, mass_;
};

// Seconds per layer: both threads go through `count` layers at their own pace, as the heads of a step do.
double decode_layers(Layers& layers, int first, int count, bool mass,
                     std::vector<std::vector<float>>& scratch) {
  return timed_on_threads([&](int thread) {
           for (int i = 0; i < count; ++i) {
             for (int head = thread; head < kKvHeads; head += kThreads) {
               slot_attention(Path::kFused, layers.args((first + i) % layers.count(), head, mass),
                              scratch[thread]);
             }
           }
         }) /
         count;
}

// range(0) = slots. Times decode without and with mass and the linear read in turn.
void decode(benchmark::State& state) {
  const int slots = static_cast<int>(state.range(0));
  Layers layers(slots);
  std::vector<std::vector<float>> scratch(kThreads);
  for (auto& s : scratch) s.resize(slot_attention_scratch(layers.args(0, 0, true)));
  const int batch =
      std::max(1, 16384 / slots);  // layers per reading, so that starting threads does not count
  std::vector<double> plain, with_mass, reference;
  int next = 0;
  for (auto _ : state) {
    const double seconds = decode_layers(layers, next, batch, false, scratch);
    with_mass.push_back(decode_layers(layers, next + batch, batch, true, scratch));
    next = (next + 2 * batch) % layers.count();
    plain.push_back(seconds);
    reference.push_back(reference_bandwidth());
    state.SetIterationTime(seconds);
  }
  const double bandwidth = layers.bytes_per_layer() / median(plain) / 1e9;
  state.counters["us"] = median(plain) * 1e6;
  state.counters["GBps"] = bandwidth;
  state.counters["ref_GBps"] = median(reference);
  state.counters["frac"] = bandwidth / median(reference);
  state.counters["frac_mass"] = layers.bytes_per_layer() / median(with_mass) / 1e9 / median(reference);
  state.counters["mass_cost"] = median(with_mass) / median(plain) - 1;
}
BENCHMARK(decode)
    ->RangeMultiplier(2)
    ->Range(512, 32768)
    ->Iterations(15)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

// range(0) = slots before the run, range(1) = tokens. One KV head, one thread.
void prefill(benchmark::State& state) {
  const int before = static_cast<int>(state.range(0)), tokens = static_cast<int>(state.range(1));
  const int slots = before + tokens;
  Layers layers(slots);
  std::vector<float> q(size_t(tokens) * kGroup * kHeadDim, 0.1f), out(q.size());
  int layer = 0;
  SlotAttentionArgs args = layers.args(0, 0, false);
  args.tokens = tokens;
  args.slots_before = before;
  args.q = q.data();
  args.out = out.data();
  args.q_token_stride = args.out_token_stride = kGroup * kHeadDim;
  std::vector<float> scratch(slot_attention_scratch(args)),
      decode_scratch(slot_attention_scratch(layers.args(0, 0, false)));
  const double pairs = double(tokens) * before + tokens * (tokens + 1) / 2.0;
  std::vector<double> run, one;
  for (auto _ : state) {
    layer = (layer + 1) % layers.count();
    double start = thread_cpu_seconds();
    slot_attention(Path::kFused, layers.args(layer, 0, false), decode_scratch);
    one.push_back(thread_cpu_seconds() - start);
    layer = (layer + 1) % layers.count();
    args.k = layers.args(layer, 0, false).k;
    args.v = layers.args(layer, 0, false).v;
    start = thread_cpu_seconds();
    slot_attention(Path::kFused, args, scratch);
    run.push_back(thread_cpu_seconds() - start);
    state.SetIterationTime(run.back());
  }
  state.counters["ns_per_pair"] = median(run) * 1e9 / pairs;
  state.counters["decode_ns_per_pair"] = median(one) * 1e9 / slots;
  state.counters["speedup"] = median(one) / slots * pairs / median(run);
}
BENCHMARK(prefill)
    ->ArgsProduct({{0, 2048, 4096}, {64, 512}})
    ->Iterations(15)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vase::kernels

BENCHMARK_MAIN();
