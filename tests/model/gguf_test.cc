// Files that are damaged, cut off, hostile or no GGUF at all.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "model/gguf_check.h"
#include "model/gguf_file.h"
#include "model/refusal.h"
#include "support/edit_gguf.h"
#include "support/tiny_gguf.h"

namespace vase::model {
namespace {

// A header written by hand, field by field.
class Raw {
 public:
  Raw& text(const std::string& bytes) { return out_ += bytes, *this; }
  Raw& u32(uint32_t value) { return number(value); }
  Raw& u64(uint64_t value) { return number(value); }
  Raw& str(const std::string& value) { return u64(value.size()).text(value); }
  Raw& header(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
    return text("GGUF").u32(version).u64(tensors).u64(keys);
  }
  Raw& tensor(const std::string& name, std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
    str(name).u32(uint32_t(dims.size()));
    for (const uint64_t d : dims) u64(d);
    return u32(type).u64(offset);
  }
  Raw& data(size_t bytes) { return out_.resize((out_.size() + 31) / 32 * 32 + bytes), *this; }
  const std::string& bytes() const { return out_; }

 private:
  template <typename T>
  Raw& number(T value) {
    return out_.append(reinterpret_cast<const char*>(&value), sizeof value), *this;
  }
  std::string out_;
};

Refusal refusal_of_bytes(const std::string& bytes) {
  try {
    check_gguf(std::as_bytes(std::span(bytes)), "file");
  } catch (const Error& error) {
    return {error.what(), error.code()};
  }
  ADD_FAILURE() << "the bytes were accepted";
  return {};
}
Refusal refusal_of_bytes(const Raw& raw) { return refusal_of_bytes(raw.bytes()); }

class GgufFiles : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string path_ = test::temporary_path(".gguf");
};

TEST_F(GgufFiles, WhatIsNoGgufIsDescribed) {
  const std::pair<std::string, const char*> cases[] = {
      {"<!DOCTYPE html><html>", "web page"},
      {std::string(1 << 20, '\0'), "zeros"},
      {"GGJT and more", "older than GGUF"},
      {"tjgg and more", "older than GGUF"},
      {"", "empty"},
      {"GGU", "'GGU'"},
      {std::string("PK\x03\x04zip", 7), "zip"},
      {"version https://git-lfs.github.com/spec/v1", "LFS"},
      {std::string("\x40\0\0\0\0\0\0\0{\"a\"", 12), "safetensors"},
      {"just some text", "'just'"},
  };
  for (const auto& [bytes, word] : cases) {
    test::write_bytes(path_, bytes);
    const Refusal refusal = refusal_of(path_);
    EXPECT_EQ(refusal.code, ErrorCode::kCorrupt);
    EXPECT_SAYS(refusal, word);
  }
}

TEST_F(GgufFiles, FoldersPipesAndMissingFiles) {
  EXPECT_EQ(refusal_of(path_).code, ErrorCode::kNotFound);
  std::filesystem::create_directory(path_);
  EXPECT_SAYS(refusal_of(path_), "directory");
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_SAYS(refusal_of(path_), "pipe");
}

TEST_F(GgufFiles, CutAnywhereInTheHeader) {
  const test::TinyModel file(
      {.layers = 1, .query_heads = 1, .kv_heads = 1, .head_dim = 4, .feed_forward = 4});
  const std::string bytes = test::read_bytes(file.path());
  const size_t header = GgufFile(std::as_bytes(std::span(bytes)), "file").header().size();
  for (size_t size = 0; size < header; ++size) {
    const Refusal refusal = refusal_of_bytes(bytes.substr(0, size));
    ASSERT_EQ(refusal.code, ErrorCode::kCorrupt) << size;
  }
}

TEST_F(GgufFiles, CutAnywhereInTheDataNamesTheTensor) {
  const test::TinyModel file(
      {.layers = 1, .query_heads = 1, .kv_heads = 1, .head_dim = 32, .feed_forward = 32});
  const std::string bytes = test::read_bytes(file.path());
  const size_t header = GgufFile(std::as_bytes(std::span(bytes)), "file").header().size();
  for (size_t size = header; size < bytes.size(); size += 61) {
    const Refusal refusal = refusal_of_bytes(bytes.substr(0, size));
    EXPECT_EQ(refusal.code, ErrorCode::kCorrupt);
    EXPECT_SAYS(refusal, "tensor '");
    EXPECT_SAYS(refusal, "are present");
  }
  test::write_bytes(path_, bytes.substr(0, bytes.size() - 1));
  EXPECT_SAYS(refusal_of(path_),
              "tensor 'blk.0.ffn_down.weight' is cut off: it needs 4096 bytes, 4095 are present");
  test::write_bytes(path_, bytes.substr(0, bytes.size() / 2));
  EXPECT_SAYS(refusal_of(path_), "cut off");
}

TEST(GgufCheck, HugeCounts) {
  for (const uint64_t count :
       {uint64_t(1) << 63, (uint64_t(1) << 63) - 1, uint64_t(1) << 60, uint64_t(1000000000)}) {
    EXPECT_SAYS(refusal_of_bytes(Raw().header(count, 0)), std::to_string(count));
    EXPECT_SAYS(refusal_of_bytes(Raw().header(0, count)), std::to_string(count));
  }
}

TEST(GgufCheck, ImpossibleDimensions) {
  const uint64_t max = std::numeric_limits<int64_t>::max();
  const std::initializer_list<uint64_t> cases[] = {{max, 2},
                                                   {1152, (uint64_t(1) << 42) + 1},
                                                   {0, 5},
                                                   {5, 0},
                                                   {uint64_t(1) << 32, uint64_t(1) << 32},
                                                   {uint64_t(-1)},
                                                   {uint64_t(-5), 2},
                                                   {max},
                                                   {max / 4},
                                                   {2, 2, 2, max}};
  for (const auto& dims : cases) {
    EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor("a", dims, 0, 0).data(64)), "tensor 'a'");
  }
}

TEST(GgufCheck, NumberOfDimensionsAndTypes) {
  for (const uint32_t n : {0u, 5u, 0xffffffffu}) {
    Raw raw;
    raw.header(1, 0).str("a").u32(n);
    for (int i = 0; i < 6; ++i) raw.u64(1);
    EXPECT_SAYS(refusal_of_bytes(raw), "dimensions");
  }
  for (const uint32_t type :
       {4u, 5u, 26u, 31u, 38u, 39u, 43u, 255u, 0x80000000u}) {  // removed, integer, unknown
    const Refusal refusal = refusal_of_bytes(Raw().header(1, 0).tensor("a", {32}, type, 0).data(64));
    EXPECT_EQ(refusal.code, ErrorCode::kUnsupported);
    EXPECT_SAYS(refusal, "type " + std::to_string(type));
    EXPECT_SAYS(refusal, "q4_0");
  }
  EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor("a", {33}, 2, 0).data(64)), "multiple of the 32");
}

TEST(GgufCheck, LengthsOfStringsAndArrays) {
  const uint64_t huge = uint64_t(1) << 40;
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).u64(huge).text("12345678")), "too large");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(8).u64(huge)), "key 'k'");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(8).u64(1000)), "cut off");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(9).u32(0).u64(1000000000)), "key 'k'");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(9).u32(0).u64(uint64_t(-1))), "elements");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(9).u32(9).u64(1).u32(0).u64(0)),
              "array of arrays");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(13).u64(0)), "value type 13");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("k").u32(9).u32(77).u64(0)), "value type 77");
}

TEST(GgufCheck, Names) {
  Raw key;
  key.str("k").u32(0).text("1");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 2).text(key.bytes()).text(key.bytes())), "twice");
  EXPECT_SAYS(refusal_of_bytes(Raw()
                                   .header(2, 0)
                                   .tensor("token_embd.weight", {8}, 0, 0)
                                   .tensor("token_embd.weight", {8}, 0, 32)
                                   .data(64)),
              "tensor 'token_embd.weight' is there twice");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor(std::string(200, 'a'), {8}, 0, 0).data(64)),
              "too large");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor(std::string(64, 'a'), {8}, 0, 0).data(64)),
              "at most 63");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor(std::string("a\0b", 3), {8}, 0, 0).data(64)), "NUL");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(1, 0).tensor("", {8}, 0, 0).data(64)), "empty");
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 1).str("").u32(0).text("12345")), "empty");
}

TEST(GgufCheck, VersionsAndByteOrder) {
  for (const uint32_t version : {0u, 1u, 4u, 77u}) {
    const Refusal refusal = refusal_of_bytes(Raw().header(0, 0, version));
    EXPECT_EQ(refusal.code, ErrorCode::kUnsupported);
    EXPECT_SAYS(refusal, "supported: 2 and 3");
  }
  EXPECT_SAYS(refusal_of_bytes(Raw().header(0, 0, 0x03000000)), "big-endian");
  EXPECT_SAYS(refusal_of_bytes(std::string("FUGG\0\0\0\3", 8)), "big-endian");
}

TEST(GgufCheck, Offsets) {
  const auto file = [](uint64_t first, uint64_t second) {
    return Raw().header(2, 0).tensor("a", {8}, 0, first).tensor("b", {8}, 0, second).data(256);
  };
  EXPECT_NO_THROW(check_gguf(std::as_bytes(std::span(file(0, 32).bytes())), "file"));
  EXPECT_SAYS(refusal_of_bytes(file(0, 16)), "tensor 'b' lies at offset 16");  // overlap
  EXPECT_SAYS(refusal_of_bytes(file(0, 0)), "expected is 32");                 // overlap
  EXPECT_SAYS(refusal_of_bytes(file(0, 96)), "gap");
  EXPECT_SAYS(refusal_of_bytes(file(32, 0)), "tensor 'a'");  // not ascending
  EXPECT_SAYS(refusal_of_bytes(file(0, uint64_t(-32))), "tensor 'b'");
}

TEST(GgufCheck, Alignment) {
  const auto file = [](uint32_t type, uint32_t alignment) {
    return Raw().header(0, 1).str("general.alignment").u32(type).u32(alignment);
  };
  EXPECT_NO_THROW(check_gguf(std::as_bytes(std::span(file(4, 64).bytes())), "file"));
  for (const uint32_t alignment : {0u, 1u, 24u, 0x80000000u})
    EXPECT_SAYS(refusal_of_bytes(file(4, alignment)), "powers of two");
  EXPECT_SAYS(refusal_of_bytes(file(5, 32)), "u32");
}

TEST(GgufFile, LargeVocabularyLoads) {
  const test::TinyModel file({.layers = 1,
                              .query_heads = 1,
                              .kv_heads = 1,
                              .head_dim = 32,
                              .vocabulary = 262144,
                              .type = GGML_TYPE_Q4_0,
                              .tied = true});
  EXPECT_EQ(read_header(file.path()).hparams.vocabulary, 262144);
}

}  // namespace
}  // namespace vase::model
