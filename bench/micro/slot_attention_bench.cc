// Speed of slot attention against the two limits that it can meet, all measured in turns, since bandwidth on shared
// machines drifts within minutes, and in CPU time of the busier thread:
//
//   ref_GBps  linear read of 512 MiB by all threads
//   L2_GBps   the same attention over rows that lie in L2: what its arithmetic allows
//
// decode/<type>/d<head_dim>/g<group>/<slots>[/offset]: one token (quantised types: its own slot apart, in strips) over 8 KV
// heads of cold layers, two threads that take half of the heads each. us = time per layer, GBps = row bytes / us, frac
// = GBps / ref_GBps, of_limit = GBps / the smaller limit, mass_cost = extra time with attention mass. offset: keys stored
// without their constant part, as in models with a key bias.
//
// prefill/<type>/<slots before>/<tokens>: CPU time in ns per (token, visible slot) of one KV head on one thread, group
// 4, head_dim 128; decode_ns_per_pair = that of single tokens, speedup = the ratio.
//
// Medians; ratios are medians of the ratios of each turn. JSON: --benchmark_out=FILE --benchmark_out_format=json. A
// part:
// --benchmark_filter=REGEX. Compact: --benchmark_counters_tabular=true.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "end_to_end/read_bandwidth.h"
#include "eval/statistics.h"
#include "micro/cold_heads.h"

namespace vase::kernels {
namespace {

constexpr int kKvHeads = 8, kThreads = 2, kTurns = 9;
constexpr size_t kReferenceBytes = size_t{512} << 20;
constexpr size_t kReadingBytes = size_t{64} << 20;    // of rows per reading, so that starting threads does not count
constexpr size_t kResidentBytes = size_t{384} << 10;  // of rows of one head, for each thread's L2

double thread_cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using eval::median;

// Runs work(thread) on kThreads threads and returns the seconds that the busier one took, in CPU time: what else the
// machine does at the moment takes nothing from one measurement and not from another.
template <class Work>
double timed_on_threads(Work work) {
  double seconds[kThreads];
  const auto timed = [&](int thread) {
    const double start = thread_cpu_seconds();
    work(thread);
    seconds[thread] = thread_cpu_seconds() - start;
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(timed, t);
  timed(0);
  for (auto& thread : threads) thread.join();
  return *std::max_element(seconds, seconds + kThreads);
}

// GB/s of a linear read by all threads.
double reference_bandwidth() {
  static const HugeBuffer buffer(kReferenceBytes);
  const double seconds = timed_on_threads([&](int thread) {
    const size_t words = kReferenceBytes / sizeof(uint64_t) / kThreads;
    benchmark::DoNotOptimize(
        bench::read_words({reinterpret_cast<const uint64_t*>(buffer.data()) + thread * words, words}));
  });
  return kReferenceBytes / seconds / 1e9;
}

// The pool of a type and width; one at a time exists.
const RowPool& pool_of(RowType type, int head_dim) {
  static std::unique_ptr<RowPool> pool;
  if (pool && pool->type == type && pool->head_dim == head_dim) return *pool;
  pool.reset();
  pool = std::make_unique<RowPool>(type, head_dim);
  return *pool;
}

// One shape's heads, cold ones and ones that stay in L2.
class Decode {
 public:
  Decode(const RowPool& pool, int group, int slots, bool offset)
      : cold_(pool, kKvHeads, group, slots, offset), resident_(pool, kThreads, group, resident_slots(pool), offset) {
    const int most = std::max(slots, resident_.slots());
    ColdHeads longest(pool, 1, group, most);
    for (auto& s : scratch_) s.resize(slot_attention_scratch(longest.args(0, 0, true)));
  }

  size_t bytes_per_layer() const { return cold_.bytes_per_layer(); }

  // Seconds per layer: both threads go through the layers at their own pace, as the heads of a step do.
  double layer(bool mass) {
    const int count = static_cast<int>(std::max<size_t>(1, kReadingBytes / cold_.bytes_per_layer()));
    const int first = next_;
    next_ = (next_ + count) % cold_.layers();
    return timed_on_threads([&](int thread) {
             for (int i = 0; i < count; ++i) {
               for (int head = thread; head < kKvHeads; head += kThreads) {
                 attend(cold_.args((first + i) % cold_.layers(), head, mass), thread);
               }
             }
           }) /
           count;
  }

  // GB/s of all threads.
  double resident_bandwidth() {
    const size_t bytes = resident_.bytes_per_layer();
    const size_t count = std::max<size_t>(2, kReadingBytes / bytes);
    const double seconds = timed_on_threads([&](int thread) {
      for (size_t i = 0; i < count; ++i) attend(resident_.args(0, thread, false), thread);
    });
    return static_cast<double>(bytes * count) / seconds / 1e9;
  }

 private:
  static int resident_slots(const RowPool& pool) {
    const size_t slots = kResidentBytes / 2 / row_bytes(pool.type, pool.head_dim);
    return static_cast<int>(std::max<size_t>(1, slots / kSegment)) * kSegment;
  }

  void attend(const SlotAttentionArgs& args, int thread) { slot_attention(Path::kFused, args, scratch_[thread]); }

  ColdHeads cold_, resident_;
  std::vector<float> scratch_[kThreads];
  int next_ = 0;
};

void decode(benchmark::State& state, RowType type, int head_dim, int group, int slots, bool offset) {
  Decode decode(pool_of(type, head_dim), group, slots, offset);
  std::vector<double> seconds, bandwidth, references, ceilings, fractions, of_limit, mass;
  for (auto _ : state) {
    const double plain = decode.layer(false);
    const double reference = reference_bandwidth(), ceiling = decode.resident_bandwidth();
    const double reached = static_cast<double>(decode.bytes_per_layer()) / plain / 1e9;
    seconds.push_back(plain);
    bandwidth.push_back(reached);
    references.push_back(reference);
    ceilings.push_back(ceiling);
    fractions.push_back(reached / reference);
    of_limit.push_back(reached / std::min(reference, ceiling));
    mass.push_back(decode.layer(true) / decode.layer(false) - 1);
    state.SetIterationTime(plain);
  }
  state.counters["us"] = median(seconds) * 1e6;
  state.counters["GBps"] = median(bandwidth);
  state.counters["ref_GBps"] = median(references);
  state.counters["L2_GBps"] = median(ceilings);
  state.counters["frac"] = median(fractions);
  state.counters["of_limit"] = median(of_limit);
  state.counters["mass_cost"] = median(mass);
}

// One KV head, one thread.
void prefill(benchmark::State& state, RowType type, int before, int tokens) {
  constexpr int kHeadDim = 128, kGroup = 4;
  ColdHeads heads(pool_of(type, kHeadDim), 1, kGroup, before + tokens);
  std::vector<float> q = normals(size_t(tokens) * kGroup * kHeadDim, 3), out(q.size());
  SlotAttentionArgs args = heads.args(0, 0, false);
  std::vector<float> decode_scratch(slot_attention_scratch(args));
  args.tokens = tokens;
  args.slots_before = before;
  args.q = q.data();
  args.out = out.data();
  args.q_token_stride = args.out_token_stride = kGroup * kHeadDim;
  std::vector<float> scratch(slot_attention_scratch(args));
  const double pairs = double(tokens) * before + tokens * (tokens + 1) / 2.0;
  std::vector<double> runs, ones, speedups;
  int layer = 0;
  for (auto _ : state) {
    layer = (layer + 1) % heads.layers();
    double start = thread_cpu_seconds();
    slot_attention(Path::kFused, heads.args(layer, 0, false), decode_scratch);
    ones.push_back((thread_cpu_seconds() - start) / heads.slots());
    layer = (layer + 1) % heads.layers();
    args.k = heads.args(layer, 0, false).k;
    args.v = heads.args(layer, 0, false).v;
    start = thread_cpu_seconds();
    slot_attention(Path::kFused, args, scratch);
    const double seconds = thread_cpu_seconds() - start;
    runs.push_back(seconds / pairs);
    speedups.push_back(ones.back() / runs.back());
    state.SetIterationTime(seconds);
  }
  state.counters["ns_per_pair"] = median(runs) * 1e9;
  state.counters["decode_ns_per_pair"] = median(ones) * 1e9;
  state.counters["speedup"] = median(speedups);
}

template <class Function, class... Args>
void add(const std::string& name, Function function, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), function, args...)
      ->Iterations(kTurns)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_all() {
  for (const RowType type : {RowType::kF16, RowType::kBF16, RowType::kQ8_0, RowType::kQ4_0}) {
    const std::string name(row_type_name(type));
    for (const int head_dim : {64, 128, 256}) {
      for (const int group : {1, 2, 3, 4, 5, 6, 7, 8}) {
        for (int slots = 512; slots <= 32768; slots *= 2) {
          const std::string shape = "decode/" + name + "/d" + std::to_string(head_dim) + "/g" + std::to_string(group) +
                                    "/" + std::to_string(slots);
          add(shape, decode, type, head_dim, group, slots, false);
          if (is_quantised(type)) add(shape + "/offset", decode, type, head_dim, group, slots, true);
        }
      }
    }
    if (is_quantised(type)) continue;  // prompts come into rows
    for (const int before : {0, 2048}) {
      for (int tokens = 1; tokens <= 512; tokens *= 2) {
        add("prefill/" + name + "/" + std::to_string(before) + "/" + std::to_string(tokens), prefill, type, before,
            tokens);
      }
    }
  }
}

}  // namespace
}  // namespace vase::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  vase::kernels::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
