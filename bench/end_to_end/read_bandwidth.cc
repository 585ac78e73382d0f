// Reads on Highway: with the vectors of the baseline alone a core does not reach what its memory gives.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "end_to_end/read_bandwidth.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace vase::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four independent sums, so that the loop waits for memory and not for an addition.
uint64_t SumWords(const uint64_t* words, size_t count) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, words + i));
    b = hn::Add(b, hn::LoadU(d, words + i + lanes));
    c = hn::Add(c, hn::LoadU(d, words + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, words + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace vase::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <chrono>
#include <thread>
#include <vector>

#include "end_to_end/read_bandwidth.h"
#include "eval/statistics.h"

namespace vase::bench {
namespace {

HWY_EXPORT(SumWords);

constexpr int kPasses = 3;
constexpr std::chrono::milliseconds kRest{250};  // OpenMP's workers spin for 200 ms

}  // namespace

uint64_t read_words(std::span<const uint64_t> words) {
  return HWY_DYNAMIC_DISPATCH(SumWords)(words.data(), words.size());
}

ReadBandwidth::ReadBandwidth(int threads) : buffer_(kBytes), threads_(threads) {}

double ReadBandwidth::measure() {
  std::this_thread::sleep_for(kRest);
  std::vector<double> passes(kPasses);
  for (double& one : passes) one = pass();
  return eval::median(passes);
}

double ReadBandwidth::pass() {
  std::vector<uint64_t> sums(threads_ * 8);  // on cache lines of their own
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  const size_t words = kBytes / 8 / threads_;
  for (int t = 0; t < threads_; ++t) {
    workers.emplace_back([&, t] {
      sums[t * 8] = read_words({reinterpret_cast<const uint64_t*>(buffer_.data()) + t * words, words});
    });
  }
  for (std::thread& w : workers) w.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  volatile uint64_t sink = 0;
  for (uint64_t s : sums) sink = sink + s;
  return static_cast<double>(kBytes) / seconds.count() / 1e9;
}

}  // namespace vase::bench
#endif
