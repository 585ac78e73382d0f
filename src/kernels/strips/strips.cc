#include "kernels/strips/strips.h"

#include <array>

#include "kernels/strips/fused.h"

namespace vase::kernels {
namespace {

using Row = std::array<float, kWidestStrip>;

void reference_dots(const StripDots& args) {
  Row key;
  for (int s = 0; s < args.slots; ++s) {
    read_from_strips(args.keys, args.first + s, key.data());
    for (int h = 0; h < args.heads; ++h) {
      const float* const query = args.queries + size_t(h) * args.keys.width;
      double sum = 0;
      for (int c = 0; c < args.keys.width; ++c) sum += double(query[c]) * key[c];
      args.logits[h * args.logit_stride + s] = static_cast<float>(sum);
    }
  }
}

void reference_sums(const StripSums& args) {
  const int width = args.values.width;
  for (int h = 0; h < args.heads; ++h) {
    std::array<double, kWidestStrip> sums{};
    Row value;
    for (int s = 0; s < args.slots; ++s) {
      read_from_strips(args.values, args.first + s, value.data());
      for (int c = 0; c < width; ++c) sums[c] += double(args.weights[h * args.weight_stride + s]) * value[c];
    }
    for (int c = 0; c < width; ++c) args.out[size_t(h) * width + c] += static_cast<float>(sums[c]);
  }
}

}  // namespace

void decode_strips(Path path, const Strips& strips, int slots, float* out, size_t stride) {
  if (path == Path::kFused) return fused::decode_strips(strips, slots, out, stride);
  for (int s = 0; s < slots; ++s) read_from_strips(strips, s, out + s * stride);
}

void strip_dots(Path path, const StripDots& args) {
  path == Path::kReference ? reference_dots(args) : fused::strip_dots(args);
}

void strip_sums(Path path, const StripSums& args) {
  path == Path::kReference ? reference_sums(args) : fused::strip_sums(args);
}

}  // namespace vase::kernels
