#include "end_to_end/read_bandwidth.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "end_to_end/statistics.h"

namespace vase::bench {
namespace {

constexpr int kPasses = 3;
constexpr std::chrono::milliseconds kRest{250};  // OpenMP's workers spin for 200 ms

// Eight independent sums, so that the loop is limited by memory and not by an addition's latency.
uint64_t sum_words(const uint64_t* words, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  uint64_t total = 0;
  for (uint64_t s : sums) total += s;
  return total;
}

}  // namespace

ReadBandwidth::ReadBandwidth(int threads) : buffer_(kBytes), threads_(threads) {}

double ReadBandwidth::measure() {
  std::this_thread::sleep_for(kRest);
  std::vector<double> passes(kPasses);
  for (double& one : passes) one = pass();
  return median(passes);
}

double ReadBandwidth::pass() {
  std::vector<uint64_t> sinks(threads_ * 8);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  const size_t words = kBytes / 8 / threads_;
  for (int t = 0; t < threads_; ++t) {
    workers.emplace_back([&, t] {
      sinks[t * 8] = sum_words(reinterpret_cast<const uint64_t*>(buffer_.data()) + t * words, words);
    });
  }
  for (std::thread& w : workers) w.join();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  volatile uint64_t sink = 0;
  for (uint64_t s : sinks) sink = sink + s;
  return static_cast<double>(kBytes) / seconds.count() / 1e9;
}

}  // namespace vase::bench
