// Barrier for threads that are known to run at the same time, for gaps of microseconds: spins, then yields.
#pragma once

#include <atomic>
#include <thread>

namespace vase {

class ThreadBarrier {
 public:
  // Every one of `threads` threads calls wait() the same number of times.
  void wait(int threads) {
    const unsigned generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
      return;
    }
    for (int spins = 0; generation_.load(std::memory_order_acquire) == generation; ++spins) {
      if (spins > 4096) std::this_thread::yield();
    }
  }

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> generation_{0};
};

}  // namespace vase
