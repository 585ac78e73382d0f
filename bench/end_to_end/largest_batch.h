// How many sequences a given memory holds.
#pragma once

#include <cstdint>
#include <functional>

namespace vase::bench {

// The largest batch, at most `most`, whose bytes are within the limit; 0 when not even one sequence fits.
// bytes must not fall with the batch; it is asked for few batches beyond the answer, at most twice as large.
int largest_batch(const std::function<uint64_t(int batch)>& bytes, uint64_t limit, int most);

}  // namespace vase::bench
