#include "arrays/head_arrays.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr size_t kMostRows = 1 << 24;
constexpr size_t kMostHeads = 4096;
constexpr size_t kMostChannels = 1 << 16;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

// The name by which the file has an array, or "". Throws when it has two of the names.
std::string find_name(const ArrayFile& file, std::initializer_list<const char*> names,
                      std::vector<std::string>& unused) {
  std::string found;
  for (const char* name : names) {
    const auto at = std::ranges::find(unused, name);
    if (at == unused.end()) continue;
    if (!found.empty()) fail(file.path() + " has both " + found + " and " + name + ", which mean the same; give one");
    found = name;
    unused.erase(at);
  }
  return found;
}

std::string required(const ArrayFile& file, const std::string& found, const std::string& name) {
  if (!found.empty()) return found;
  const std::vector<std::string_view> names(file.names().begin(), file.names().end());
  fail(file.path() + " has no array " + name + "; it has " + (names.empty() ? "none" : joined(names)) +
       ". Needed are K and V [heads][tokens][head_dim], and Q for policies that look at queries");
}

std::string with_shape(const NpyArray& array) { return array.name + " has shape " + shape_text(array.shape); }

size_t product(std::span<const size_t> shape) {
  size_t count = 1;
  for (size_t length : shape) count *= length;
  return count;
}

}  // namespace

HeadArrays::HeadArrays(const ArrayFile& file) : unused_(file.names()) {
  const std::string keys = find_name(file, {"K", "k", "keys"}, unused_),
                    values = find_name(file, {"V", "v", "values"}, unused_);
  const std::string queries = find_name(file, {"Q", "q", "queries"}, unused_);
  const std::string positions = find_name(file, {"positions"}, unused_),
                    weights = find_name(file, {"log_weight"}, unused_);
  read_keys(file.read(required(file, keys, "K")));
  NpyArray array = file.read(required(file, values, "V"));
  if (array.shape != keys_shape_)
    fail(with_shape(array) + ", " + keys_name_ + " has " + shape_text(keys_shape_) + "; they must be equal");
  values_ = array.floats();
  if (!queries.empty()) read_queries(file.read(queries));
  if (!weights.empty()) {
    array = file.read(weights);
    read_per_token(array, array.floats(), log_weight_);
  }
  if (!positions.empty()) {
    array = file.read(positions);
    std::vector<int32_t> narrow;
    for (int64_t p : array.integers()) {
      if (p < 0 || p >= std::numeric_limits<int32_t>::max())
        fail(array.name + " holds " + std::to_string(p) + "; allowed: 0 to 2147483646");
      narrow.push_back(static_cast<int32_t>(p));
    }
    read_per_token(array, narrow, positions_);
  }
}

void HeadArrays::read_keys(NpyArray array) {
  const size_t rank = array.shape.size();
  if (rank < 2 || rank > 4)
    fail(with_shape(array) +
         "; allowed: (tokens, head_dim), (heads, tokens, head_dim) or (sequences, heads, tokens, head_dim)");
  if (product(array.shape) == 0) fail(with_shape(array) + ", which holds nothing");
  keys_ = array.floats();
  keys_name_ = array.name;
  keys_shape_ = array.shape;
  head_dim_ = array.shape[rank - 1];
  tokens_ = array.shape[rank - 2];
  if (rank > 2) kv_heads_ = array.shape[rank - 3];
  if (rank > 3) sequences_ = array.shape[0];
  head_shape_.assign(array.shape.begin(), array.shape.end() - 2);
  if (tokens_ > kMostRows || kv_heads_ > kMostHeads || head_dim_ > kMostChannels) {
    fail(with_shape(array) + "; at most 4096 heads, 16777216 tokens and 65536 channels are allowed, heads first");
  }
}

// [S][H][G][W][d] becomes [S][H][W][G][d].
void HeadArrays::read_queries(const NpyArray& array) {
  const std::vector<size_t>& shape = array.shape;
  const size_t rank = shape.size(), keys_rank = keys_shape_.size(), heads = sequences_ * kv_heads_;
  const std::string beside = " beside " + keys_name_ + " " + shape_text(keys_shape_);
  const bool fits = keys_rank == 2 ? rank == 2 || rank == 3 : keys_rank == 3 ? rank == 3 || rank == 4 : rank == 4;
  if (!fits) {
    const char* allowed = keys_rank == 2   ? "(queries, head_dim) or (group, queries, head_dim)"
                          : keys_rank == 3 ? "(heads * group, queries, head_dim) or (heads, group, queries, head_dim)"
                                           : "(sequences, heads * group, queries, head_dim)";
    fail(with_shape(array) + beside + "; allowed: " + allowed);
  }
  if (shape[rank - 1] != head_dim_) fail(with_shape(array) + beside + "; the last axis is head_dim and must be equal");
  if (product(shape) == 0 || shape[rank - 2] > kMostRows)
    fail(with_shape(array) + "; it needs between 1 and 16777216 queries");
  window_ = shape[rank - 2];
  const size_t all = product(std::span(shape).first(rank - 2));  // query heads of all sequences
  const bool split = keys_rank == 3 && rank == 4;
  if ((keys_rank == 4 && shape[0] != sequences_) || (split && shape[0] != kv_heads_) || all % heads != 0) {
    fail(with_shape(array) + beside + "; the query heads must be a multiple of the " + std::to_string(kv_heads_) +
         " KV heads");
  }
  group_ = all / heads;
  const std::vector<float>& given = array.floats();
  queries_.resize(given.size());
  for (size_t h = 0; h < heads; ++h) {
    for (size_t g = 0; g < group_; ++g) {
      for (size_t w = 0; w < window_; ++w) {
        std::copy_n(given.begin() + ((h * group_ + g) * window_ + w) * head_dim_, head_dim_,
                    queries_.begin() + ((h * window_ + w) * group_ + g) * head_dim_);
      }
    }
  }
}

template <typename T>
void HeadArrays::read_per_token(const NpyArray& array, const std::vector<T>& numbers, std::vector<T>& out) {
  const std::vector<size_t> one = {tokens_}, all(keys_shape_.begin(), keys_shape_.end() - 1);
  if (array.shape != one && array.shape != all) {
    fail(with_shape(array) + "; allowed: " + shape_text(one) + (one == all ? "" : " or " + shape_text(all)) + ", as " +
         keys_name_);
  }
  if (array.shape == all) {
    out = numbers;
    return;
  }
  for (size_t h = 0; h < sequences_ * kv_heads_; ++h) out.insert(out.end(), numbers.begin(), numbers.end());
}

SelectInput HeadArrays::head(size_t sequence, size_t kv_head) const {
  const size_t h = head_index(sequence, kv_head);
  const auto part = [h]<typename T>(const std::vector<T>& all, size_t size) {
    return all.empty() ? std::span<const T>() : std::span<const T>(all).subspan(h * size, size);
  };
  SelectInput input;
  input.head_dim = head_dim();
  input.keys = part(keys_, tokens_ * head_dim_);
  input.values = values(sequence, kv_head);
  input.positions = part(positions_, tokens_);
  input.queries = part(queries_, window_ * group_ * head_dim_);
  input.group = group();
  input.log_weight = part(log_weight_, tokens_);
  input.kv_head = static_cast<int>(kv_head);
  input.kv_heads = static_cast<int>(kv_heads_);
  input.stream = static_cast<uint32_t>(sequence);
  return input;
}

std::span<const float> HeadArrays::values(size_t sequence, size_t kv_head) const {
  const size_t size = tokens_ * head_dim_;
  return std::span(values_).subspan(head_index(sequence, kv_head) * size, size);
}

int32_t HeadArrays::position(size_t sequence, size_t kv_head, size_t row) const {
  return positions_.empty() ? static_cast<int32_t>(row) : positions_[head_index(sequence, kv_head) * tokens_ + row];
}

}  // namespace vase::cli
