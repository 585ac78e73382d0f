#include "policies/tri_stats.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "policies/rope_turns.h"
#include "vase/error.h"

namespace vase {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little endian");

constexpr std::array<char, 8> kMagic = {'v', 'a', 's', 'e', 't', 'r', 'i', '1'};
constexpr int kLargest = 1 << 16;  // of any of the numbers in the header

size_t head_count(const TriStats& stats) { return size_t(stats.heads.layers) * stats.query_heads(); }

PairChannels channels_of(const TriStats& stats, int f) {
  return stats.adjacent ? PairChannels{2 * f, 2 * f + 1} : PairChannels{f, f + stats.pairs};
}

[[noreturn]] void fail_corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "TriAttention statistics '" + path + "': " + what +
                                       "; make the file anew with `vase calibrate triattention`");
}

void check_numbers(const std::array<int32_t, 6>& n, const std::string& path) {
  for (int i = 0; i < 5; ++i) {
    if (n[i] < 1 || n[i] > kLargest) fail_corrupt(path, "a size of " + std::to_string(n[i]) + " is out of range");
  }
  if (2 * n[4] > n[3]) {
    fail_corrupt(path, std::to_string(n[4]) + " pairs do not fit into " + std::to_string(n[3]) + " channels");
  }
  if (n[5] != 0 && n[5] != 1) fail_corrupt(path, "the kind of pairs is neither 0 nor 1");
}

void read_floats(std::ifstream& file, std::vector<float>& out, size_t count) {
  out.resize(count);
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(float)));
}

// |E q_f| <= E|q_f| holds for any queries.
void check_means(const TriStats& stats, const std::string& path) {
  for (float x : stats.mean) {
    if (!std::isfinite(x)) fail_corrupt(path, "a mean is not finite");
  }
  for (int layer = 0; layer < stats.heads.layers; ++layer) {
    for (int head = 0; head < stats.query_heads(); ++head) {
      for (int f = 0; f < stats.pairs; ++f) {
        const auto [first, second] = channels_of(stats, f);
        const auto mean = stats.mean_of(layer, head);
        const double length = std::hypot(mean[first], mean[second]), magnitude = stats.magnitude_of(layer, head)[f];
        if (std::isfinite(magnitude) && length <= magnitude * 1.001 + 1e-6) continue;
        fail_corrupt(path, "a mean of absolute values is less than the absolute value of the mean");
      }
    }
  }
}

}  // namespace

std::span<const float> TriStats::mean_of(int layer, int query_head) const {
  return std::span(mean).subspan((size_t(layer) * query_heads() + query_head) * heads.head_dim, heads.head_dim);
}

std::span<const float> TriStats::magnitude_of(int layer, int query_head) const {
  return std::span(magnitude).subspan((size_t(layer) * query_heads() + query_head) * pairs, pairs);
}

TriStats read_tri_stats(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw Error(ErrorCode::kNotFound, "TriAttention statistics '" + path +
                                          "': cannot be opened; `vase calibrate triattention` makes such a file");
  const std::streamoff size = file.tellg();
  file.seekg(0);
  std::array<char, 8> magic{};
  std::array<int32_t, 6> n{};
  const std::streamoff header = sizeof magic + sizeof n;
  file.read(magic.data(), magic.size());
  file.read(reinterpret_cast<char*>(n.data()), sizeof n);
  if (!file || magic != kMagic) fail_corrupt(path, "not a file of TriAttention statistics");
  check_numbers(n, path);
  TriStats stats{.heads = {n[0], n[1], n[2], n[3]}, .pairs = n[4], .adjacent = n[5] == 1};
  const double rows = double(n[0]) * n[1] * n[2];
  if (static_cast<double>(size - header) != rows * (n[3] + n[4]) * sizeof(float)) {
    fail_corrupt(path, "has another size than its header says");
  }
  read_floats(file, stats.mean, head_count(stats) * n[3]);
  read_floats(file, stats.magnitude, head_count(stats) * n[4]);
  if (!file) fail_corrupt(path, "cannot be read to its end");
  check_means(stats, path);
  return stats;
}

void write_tri_stats(const TriStats& stats, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const ModelHeads& h = stats.heads;
  const std::array<int32_t, 6> n = {h.layers, h.kv_heads, h.group, h.head_dim, stats.pairs, stats.adjacent};
  const auto put = [&](const void* data, size_t bytes) {
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  put(kMagic.data(), kMagic.size());
  put(n.data(), sizeof n);
  put(stats.mean.data(), stats.mean.size() * sizeof(float));
  put(stats.magnitude.data(), stats.magnitude.size() * sizeof(float));
  file.close();
  if (!file) throw Error(ErrorCode::kResource, "TriAttention statistics '" + path + "': cannot be written");
}

TriAccumulator::TriAccumulator(const ModelHeads& heads, int pairs, bool adjacent)
    : shape_{.heads = heads, .pairs = pairs, .adjacent = adjacent},
      mean_(head_count(shape_) * heads.head_dim),
      magnitude_(head_count(shape_) * pairs),
      rows_(head_count(shape_)) {}

void TriAccumulator::add(int layer, int query_head, std::span<const float> row) {
  const size_t head = size_t(layer) * shape_.query_heads() + query_head;
  double* const mean = mean_.data() + head * shape_.heads.head_dim;
  for (int c = 0; c < shape_.heads.head_dim; ++c) mean[c] += row[c];
  for (int f = 0; f < shape_.pairs; ++f) {
    const auto [first, second] = channels_of(shape_, f);
    magnitude_[head * shape_.pairs + f] += std::hypot(double(row[first]), double(row[second]));
  }
  ++rows_[head];
}

TriStats TriAccumulator::stats() const {
  TriStats stats = shape_;
  for (size_t head = 0; head < rows_.size(); ++head) {
    if (rows_[head] > 0) continue;
    throw Error(ErrorCode::kUsage, "TriAttention statistics: no query of layer " +
                                       std::to_string(head / shape_.query_heads()) + ", head " +
                                       std::to_string(head % shape_.query_heads()) + " was added; run some text first");
  }
  const auto means = [&](const std::vector<double>& sums, int per_head) {
    std::vector<float> out(sums.size());
    for (size_t i = 0; i < sums.size(); ++i)
      out[i] = static_cast<float>(sums[i] / static_cast<double>(rows_[i / per_head]));
    return out;
  };
  stats.mean = means(mean_, shape_.heads.head_dim);
  stats.magnitude = means(magnitude_, shape_.pairs);
  return stats;
}

}  // namespace vase
