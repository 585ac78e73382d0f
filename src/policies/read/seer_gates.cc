#include "policies/read/seer_gates.h"

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "vase/error.h"
#include "vase/select.h"

namespace vase {
namespace {

constexpr char kMagic[] = "VASESEER";
constexpr size_t kMagicBytes = 8, kNumbers = 7;
constexpr size_t kHeaderBytes = kMagicBytes + 4 * kNumbers + 4;
constexpr uint32_t kVersion = 1;

[[noreturn]] void corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "gate file " + path + ": " + what + "; make it anew with scripts/distil_gates.py");
}

int checked(const std::string& path, const char* name, uint32_t value, uint32_t most) {
  if (value >= 1 && value <= most) return static_cast<int>(value);
  corrupt(path, std::string(name) + " is " + std::to_string(value) + ", allowed: 1 to " + std::to_string(most));
}

SeerGates read_header(const std::string& path, std::ifstream& in) {
  std::array<char, kHeaderBytes> header;
  if (!in.read(header.data(), header.size())) corrupt(path, "too short for its header");
  if (std::memcmp(header.data(), kMagic, kMagicBytes) != 0)
    corrupt(path, "no gate file, it does not begin with VASESEER");
  std::array<uint32_t, kNumbers> n;
  std::memcpy(n.data(), header.data() + kMagicBytes, sizeof n);
  if (n[0] != kVersion) {
    corrupt(path, "version " + std::to_string(n[0]) + ", this program reads version " + std::to_string(kVersion));
  }
  SeerGates gates;
  gates.heads = {.layers = checked(path, "the number of layers", n[1], 1024),
                 .kv_heads = checked(path, "the number of KV heads", n[2], 1024),
                 .group = checked(path, "the number of query heads per KV head", n[3], 256),
                 .head_dim = checked(path, "the head width", n[4], 1024)};
  gates.block = checked(path, "the block", n[5], 4096);
  gates.width = checked(path, "the gate width", n[6], 1024);
  if (gates.width % 2 != 0) corrupt(path, "the gate width is " + std::to_string(gates.width) + ", it must be even");
  std::memcpy(&gates.rope_base, header.data() + kMagicBytes + sizeof n, 4);
  if (!(gates.rope_base >= 1 && gates.rope_base <= 1e12f)) corrupt(path, "its RoPE base is no number from 1 to 1e12");
  gates.frequencies = rope_frequencies(gates.rope_base, gates.width);
  return gates;
}

}  // namespace

SeerGates SeerGates::read(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) {
    throw Error(ErrorCode::kNotFound, "cannot read the gate file " + path + "; scripts/distil_gates.py makes one");
  }
  SeerGates gates = read_header(path, in);
  const uint64_t count = uint64_t(gates.heads.layers) * gates.heads.kv_heads * gates.per_head();
  const uint64_t wanted = kHeaderBytes + count * sizeof(float);
  if (bytes != wanted) {
    corrupt(path, "it has " + std::to_string(bytes) + " bytes, its header asks for " + std::to_string(wanted));
  }
  gates.weights.resize(count);
  if (!in.read(reinterpret_cast<char*>(gates.weights.data()), static_cast<std::streamsize>(count * sizeof(float)))) {
    corrupt(path, "it ends too early");
  }
  for (size_t i = 0; i < gates.weights.size(); ++i) {
    if (!std::isfinite(gates.weights[i])) corrupt(path, "weight " + std::to_string(i) + " is no finite number");
  }
  return gates;
}

std::span<const float> SeerGates::key_weights(int layer, int kv_head) const {
  return std::span(weights).subspan((size_t(layer) * heads.kv_heads + kv_head) * per_head(),
                                    size_t(width) * 3 * heads.head_dim);
}

std::span<const float> SeerGates::query_weights(int layer, int kv_head) const {
  const size_t keys = size_t(width) * 3 * heads.head_dim;
  return std::span(weights).subspan((size_t(layer) * heads.kv_heads + kv_head) * per_head() + keys, per_head() - keys);
}

}  // namespace vase
