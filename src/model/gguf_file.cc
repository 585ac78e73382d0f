#include "model/gguf_file.h"

#include <ggml.h>

#include <algorithm>
#include <limits>

#include "ggml_log/quiet_ggml.h"
#include "model/gguf_check.h"

namespace vase::model {

GgufFile::GgufFile(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  check_gguf(bytes_, name_);
  const QuietGgml quiet;
  gguf_ = gguf_init_from_buffer(bytes_.data(), bytes_.size(), {.no_alloc = true, .ctx = &context_});
  if (gguf_ == nullptr)
    fail(ErrorCode::kCorrupt, "ggml cannot read this file, though its header looks sound");
  for (ggml_tensor* tensor = ggml_get_first_tensor(context_); tensor;
       tensor = ggml_get_next_tensor(context_, tensor)) {
    // Counted before the entry exists: GCC 12 inserts first when this is one expression.
    const auto index = int64_t(by_name_.size());
    by_name_[ggml_get_name(tensor)] = {tensor, index};
  }
}

GgufFile::~GgufFile() {
  gguf_free(gguf_);
  ggml_free(context_);
}

void GgufFile::fail(ErrorCode code, const std::string& what) const { throw Error(code, name_ + ": " + what); }

int64_t GgufFile::find(const std::string& key, std::initializer_list<gguf_type> types,
                       const char* wanted) const {
  const int64_t id = gguf_find_key(gguf_, key.c_str());
  if (id < 0) return -1;
  const gguf_type type = gguf_get_kv_type(gguf_, id);
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    fail(ErrorCode::kCorrupt, key + " is of type " + gguf_type_name(type) + "; " + wanted + " is needed");
  }
  return id;
}

std::optional<int64_t> GgufFile::whole_number(const std::string& key) const {
  const int64_t id = find(key,
                          {GGUF_TYPE_UINT8, GGUF_TYPE_INT8, GGUF_TYPE_UINT16, GGUF_TYPE_INT16,
                           GGUF_TYPE_UINT32, GGUF_TYPE_INT32, GGUF_TYPE_UINT64, GGUF_TYPE_INT64},
                          "one whole number");
  if (id < 0) return {};
  switch (gguf_get_kv_type(gguf_, id)) {
    case GGUF_TYPE_UINT8:
      return gguf_get_val_u8(gguf_, id);
    case GGUF_TYPE_INT8:
      return gguf_get_val_i8(gguf_, id);
    case GGUF_TYPE_UINT16:
      return gguf_get_val_u16(gguf_, id);
    case GGUF_TYPE_INT16:
      return gguf_get_val_i16(gguf_, id);
    case GGUF_TYPE_UINT32:
      return gguf_get_val_u32(gguf_, id);
    case GGUF_TYPE_INT32:
      return gguf_get_val_i32(gguf_, id);
    case GGUF_TYPE_INT64:
      return gguf_get_val_i64(gguf_, id);
    default:
      return int64_t(std::min<uint64_t>(gguf_get_val_u64(gguf_, id), std::numeric_limits<int64_t>::max()));
  }
}

std::optional<double> GgufFile::number(const std::string& key) const {
  const int64_t id = find(key, {GGUF_TYPE_FLOAT32, GGUF_TYPE_FLOAT64}, "one floating-point number");
  if (id < 0) return {};
  if (gguf_get_kv_type(gguf_, id) == GGUF_TYPE_FLOAT64) return gguf_get_val_f64(gguf_, id);
  return double(gguf_get_val_f32(gguf_, id));
}

std::optional<bool> GgufFile::flag(const std::string& key) const {
  const int64_t id = find(key, {GGUF_TYPE_BOOL}, "one truth value");
  if (id < 0) return {};
  return gguf_get_val_bool(gguf_, id);
}

std::optional<std::string> GgufFile::text(const std::string& key) const {
  const int64_t id = find(key, {GGUF_TYPE_STRING}, "one string");
  if (id < 0) return {};
  return std::string(gguf_get_val_str(gguf_, id));
}

std::optional<size_t> GgufFile::array_length(const std::string& key, gguf_type type) const {
  const int64_t id = find(key, {GGUF_TYPE_ARRAY}, "an array");
  if (id < 0) return {};
  if (gguf_get_arr_type(gguf_, id) != type) {
    fail(ErrorCode::kCorrupt, key + " is an array of " + gguf_type_name(gguf_get_arr_type(gguf_, id)) +
                                  "; an array of " + gguf_type_name(type) + " is needed");
  }
  return gguf_get_arr_n(gguf_, id);
}

int GgufFile::tensors() const { return int(gguf_get_n_tensors(gguf_)); }

const char* GgufFile::tensor_name(int index) const { return gguf_get_tensor_name(gguf_, index); }

ggml_tensor* GgufFile::find_tensor(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.tensor;
}

std::span<const std::byte> GgufFile::data(const ggml_tensor* tensor) const {
  const int64_t index = by_name_.at(ggml_get_name(tensor)).index;
  const size_t begin = gguf_get_data_offset(gguf_) + gguf_get_tensor_offset(gguf_, index);
  return bytes_.subspan(begin, ggml_nbytes(tensor));
}

std::span<const std::byte> GgufFile::header() const {
  return bytes_.first(std::min(gguf_get_data_offset(gguf_), bytes_.size()));
}

}  // namespace vase::model
