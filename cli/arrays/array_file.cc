#include "arrays/array_file.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/machine.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".npy";
constexpr zip_uint64_t kMostExpansion = 1100;  // deflate reaches 1032
constexpr zip_uint64_t kMostBytes = zip_uint64_t(1) << 40;

std::string without_suffix(std::string_view name) {
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return std::string(name);
}

std::string reason(zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return text;
}

// The bytes of an array are held twice while its numbers are read; numbers of 2 bytes take 4.
void require_memory(uint64_t bytes, const std::string& label) {
  const uint64_t there = available_memory();
  if (bytes <= there / 3) return;
  throw Error(ErrorCode::kResource, label + " holds " + std::to_string(bytes >> 20) +
                                        " MiB of numbers, too many for the " + std::to_string(there >> 20) +
                                        " MiB that are free; give fewer heads or tokens");
}

class NpzFile final : public ArrayFile {
 public:
  explicit NpzFile(const std::string& path) : ArrayFile(path) {
    int code = 0;
    zip_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!zip_) fail_open(code);
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* name = zip_get_name(zip_.get(), i, ZIP_FL_ENC_RAW);
      names_.push_back(name ? without_suffix(name) : "");
    }
  }

  NpyArray read(const std::string& name) const override {
    const auto at = std::ranges::find(names_, name);
    const std::string label = path_ + ": " + name;
    zip_stat_t stat;
    if (at == names_.end() || zip_stat_index(zip_.get(), at - names_.begin(), 0, &stat) != 0) fail(label);
    if (!(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_COMP_SIZE)) fail(label);
    // What the archive says of the size is not to be trusted with memory.
    if (stat.size > kMostBytes || stat.size / kMostExpansion > stat.comp_size) fail(label);
    require_memory(stat.size, label);
    std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(zip_.get(), stat.index, 0));
    if (!file) fail(label);
    std::string bytes(stat.size, '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const zip_int64_t read = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
      if (read <= 0) fail(label);
      done += static_cast<size_t>(read);
    }
    char rest;
    if (zip_fread(file.get(), &rest, 1) != 0) fail(label);  // the check sum is compared at the end of the entry
    return read_npy(bytes, label);
  }

 private:
  struct CloseZip {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };
  struct CloseFile {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };

  [[noreturn]] void fail_open(int code) const {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = reason(&error);
    if (code == ZIP_ER_OPEN || code == ZIP_ER_NOENT || code == ZIP_ER_READ)
      throw Error(ErrorCode::kNotFound, "cannot read " + path_ + ": " + text);
    throw Error(ErrorCode::kCorrupt, path_ + " is no .npz file (" + text + "); write it with numpy.savez");
  }
  [[noreturn]] void fail(const std::string& label) const {
    throw Error(ErrorCode::kCorrupt, label + " is damaged in the archive; write it again with numpy.savez");
  }

  std::unique_ptr<zip_t, CloseZip> zip_;
};

class ArrayFolder final : public ArrayFile {
 public:
  explicit ArrayFolder(const std::string& path) : ArrayFile(path) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == kSuffix) names_.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names_);
  }

  NpyArray read(const std::string& name) const override {
    const std::string path = (fs::path(path_) / (name + std::string(kSuffix))).string();
    std::error_code error;
    if (!fs::is_regular_file(path, error)) throw Error(ErrorCode::kNotFound, path + " is no file");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    const uint64_t size = fs::file_size(path, error);
    if (!error) require_memory(size, path);
    std::string bytes(error ? 0 : size, '\0');
    if (!in || error || !in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      throw Error(ErrorCode::kNotFound,
                  "cannot read " + path + (errno ? std::string(": ") + std::strerror(errno) : ""));
    }
    return read_npy(bytes, path);
  }
};

struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

}  // namespace

std::unique_ptr<ArrayFile> ArrayFile::open(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(ErrorCode::kNotFound, path + " does not exist; give an .npz file or a folder of .npy files");
  if (fs::is_directory(status)) return std::make_unique<ArrayFolder>(path);
  if (!fs::is_regular_file(status))
    throw Error(ErrorCode::kUsage, path + " is neither a file nor a folder; give an .npz file");
  return std::make_unique<NpzFile>(path);
}

std::string npz_bytes(const std::vector<std::pair<std::string, std::string>>& arrays) {
  zip_error_t error;
  zip_error_init(&error);
  const std::unique_ptr<zip_source_t, FreeSource> out(zip_source_buffer_create(nullptr, 0, 0, &error));
  zip_t* zip = out ? zip_open_from_source(out.get(), ZIP_TRUNCATE, &error) : nullptr;
  const auto fail = [](const std::string& why) {
    throw Error(ErrorCode::kResource, "cannot make an .npz archive: " + why);
  };
  if (!zip) fail(reason(&error));
  zip_source_keep(out.get());  // zip_close() gives up the archive's own hold
  bool sound = true;
  for (const auto& [name, bytes] : arrays) {
    zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source ? zip_file_add(zip, (name + std::string(kSuffix)).c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (source && index < 0) zip_source_free(source);
    // A fixed time, so that equal arrays give equal files: the first day that a zip archive can tell.
    sound = sound && index >= 0 && zip_set_file_compression(zip, index, ZIP_CM_STORE, 0) == 0 &&
            zip_file_set_dostime(zip, index, 0, 0x21, 0) == 0;
  }
  if (!sound || zip_close(zip) != 0) {
    const std::string why = zip_strerror(zip);
    zip_discard(zip);
    fail(why);
  }
  std::string result;
  zip_stat_t stat;
  if (zip_source_open(out.get()) != 0) fail("memory");
  if (zip_source_stat(out.get(), &stat) == 0 && (stat.valid & ZIP_STAT_SIZE)) {
    result.resize(stat.size);
    if (zip_source_read(out.get(), result.data(), result.size()) != zip_int64_t(result.size())) result.clear();
  }
  zip_source_close(out.get());
  if (result.empty()) fail("memory");
  return result;
}

}  // namespace vase::cli
