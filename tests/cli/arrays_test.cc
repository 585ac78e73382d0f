// .npy arrays and the archives that hold them: what is written comes back, and every damage has its message.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "arrays/array_file.h"
#include "arrays/npy.h"
#include "arrays/npy_header.h"
#include "cli_fixture.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

using Shape = std::vector<size_t>;

// A version 1 file with this dictionary and these numbers.
template <typename T>
std::string npy(const std::string& dictionary, const std::vector<T>& numbers, char version = 1) {
  std::string bytes =
      "\x93NUMPY" + std::string{version, 0} + std::string{char(dictionary.size()), char(dictionary.size() >> 8)};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + dictionary + std::string(reinterpret_cast<const char*>(numbers.data()), sizeof(T) * numbers.size());
}

std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

std::string refusal(const std::string& bytes) {
  try {
    read_npy(bytes, "file: K");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

void expect_refusal(const std::string& bytes, const std::string& part) {
  const std::string message = refusal(bytes);
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.substr(0, 7), "file: K");
}

TEST(Npy, WhatIsWrittenComesBack) {
  const Shape shape = {2, 3};
  const std::vector<float> floats = {1, -2, 0.5f, 3e38f, 1e-38f, 0};
  const NpyArray a = read_npy(npy_bytes(shape, floats), "a");
  EXPECT_EQ(a.shape, shape);
  EXPECT_EQ(a.floats(), floats);
  const std::vector<int64_t> integers = {1, -(int64_t(1) << 62), 3};
  EXPECT_EQ(read_npy(npy_bytes(Shape{3}, integers), "b").integers(), integers);
  EXPECT_EQ(npy_bytes(shape, floats).size(), 64 * 2 + 24u);  // the numbers begin at a multiple of 64
  EXPECT_THROW(a.integers(), Error);
}

TEST(Npy, TypesVersionsAndSpellings) {
  EXPECT_EQ(read_npy(npy<double>(header("<f8", "(2,)"), {0.25, -3}), "a").floats(), (std::vector<float>{0.25f, -3}));
  EXPECT_EQ(read_npy(npy<uint16_t>(header("<f2", "(3,)"), {0x3C00, 0xC000, 0x3555}), "a").floats(),
            (std::vector<float>{1, -2, 0.333251953125f}));
  EXPECT_EQ(read_npy(npy<int32_t>(header("<i4", "(2,)"), {-1, 7}), "a").integers(), (std::vector<int64_t>{-1, 7}));
  EXPECT_EQ(read_npy(npy<float>(header("<f4", "(1,)"), {5}, 3), "a").floats(), (std::vector<float>{5}));
  EXPECT_EQ(read_npy(npy<float>("{\"shape\":(1),\"fortran_order\":False,\"descr\":\"<f4\"}", {5}), "a").floats().size(),
            1u);
  EXPECT_EQ(read_npy(npy<float>(header("<f4", "()"), {5}), "a").shape, Shape{});
  EXPECT_EQ(read_npy(npy<float>(header("<f4", "(0, 4)"), {}), "a").floats().size(), 0u);
}

TEST(Npy, FortranOrderIsTurned) {
  const NpyArray a = read_npy(npy<float>(header("<f4", "(2, 3)", "True"), {11, 21, 12, 22, 13, 23}), "a");
  EXPECT_EQ(a.floats(), (std::vector<float>{11, 12, 13, 21, 22, 23}));
  std::vector<int32_t> numbers(24);  // element (i, j, k) of (2, 3, 4) lies at i + 2 j + 6 k
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) numbers[i + 2 * j + 6 * k] = 100 * i + 10 * j + k;
  const NpyArray b = read_npy(npy(header("<i4", "(2, 3, 4)", "True"), numbers), "b");
  EXPECT_TRUE(std::ranges::is_sorted(b.integers()));
}

TEST(Npy, RefusesWhatItCannotRead) {
  expect_refusal("", "no .npy array");
  expect_refusal("PK\3\4", "no .npy array");
  expect_refusal("\x93NUMPY\1", "no .npy array");
  expect_refusal(npy<float>(header("<f4", "(1,)"), {5}, 9), "version 9");
  expect_refusal(std::string("\x93NUMPY\1\0\xff\x00 ", 11), "ends within its header");
  expect_refusal(std::string("\x93NUMPY\2\0\xff\xff\xff\x7f", 12), "header of 2147483647 bytes; at most 65536");
  for (const char* type : {">f4", "|V2", "<c8", "|b1", "<U3", "|O"})
    expect_refusal(npy<float>(header(type, "(1,)"), {5}), "little-endian");
  expect_refusal(npy<float>("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", {5}), "a record type");
  expect_refusal(npy<float>(header("<f4", "(2,)"), {5}), "4 bytes of numbers; its shape (2,) needs 8");
  expect_refusal(npy<float>(header("<f4", "(1,)"), {5, 6}), "8 bytes of numbers; its shape (1,) needs 4");
  expect_refusal(npy<float>(header("<f4", "(4294967296, 4294967296)"), {}), "more than 2^40 numbers");
  expect_refusal(npy<float>(header("<f4", "(99999999999999999999999,)"), {}), "more than 2^40 numbers");
  expect_refusal(npy<float>(header("<f4", "(1,1,1,1,1,1,1,1,1)"), {5}), "more than 8 axes");
}

TEST(Npy, RefusesEveryDamageOfItsHeader) {
  for (const char* dictionary :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"}) {
    expect_refusal(npy<float>(dictionary, {5}), "damaged header");
  }
}

// Every prefix of a file is refused, none is read beyond its end (the sanitizers watch).
TEST(Npy, EveryPrefixIsRefused) {
  const std::string whole = npy_bytes(Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
}

class Npz : public testing::Test {
 protected:
  ~Npz() override { std::filesystem::remove_all(path_); }
  std::string refusal(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      const auto file = ArrayFile::open(path_);
      for (const std::string& name : file->names()) file->read(name);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
  std::string path_ = test::temporary_path(".npz");
  std::string bytes_ = npz_bytes({{"K", npy_bytes(Shape{2}, std::vector<float>{1, 2})},
                                  {"positions", npy_bytes(Shape{1}, std::vector<int64_t>{9})}});
};

TEST_F(Npz, WhatIsWrittenComesBack) {
  EXPECT_EQ(refusal(bytes_), "accepted");
  const auto file = ArrayFile::open(path_);
  EXPECT_EQ(file->names(), (std::vector<std::string>{"K", "positions"}));
  EXPECT_EQ(file->read("K").floats(), (std::vector<float>{1, 2}));
  EXPECT_EQ(file->read("positions").integers(), std::vector<int64_t>{9});
  EXPECT_THROW(file->read("V"), Error);
}

TEST_F(Npz, DamageIsNoticed) {
  EXPECT_NE(refusal("").find("no .npz file"), std::string::npos);
  EXPECT_NE(refusal("neither").find("no .npz file"), std::string::npos);
  EXPECT_NE(refusal(bytes_.substr(0, bytes_.size() / 2)).find("no .npz file"), std::string::npos);
  std::string changed = bytes_;
  changed[changed.find("NUMPY") + 125] ^= 1;  // within the numbers: the check sum tells
  EXPECT_NE(refusal(changed).find(": K is damaged"), std::string::npos) << refusal(changed);
}

TEST_F(Npz, AnArchiveThatPromisesTooMuchIsRefused) {
  std::string huge = bytes_;
  const size_t entry = huge.find("PK\1\2");  // of K in the directory: its size lies 24 bytes behind, stored size 20
  for (size_t i = 0; i < 4; ++i) huge[entry + 24 + i] = char(0x7f);
  EXPECT_NE(refusal(huge).find("damaged"), std::string::npos) << refusal(huge);
}

// A header may promise what no memory holds, in an archive of zeros as in a file with holes.
TEST_F(Npz, MoreThanMemoryHoldsIsRefusedBeforeItIsRead) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/K.npy", std::ios::binary) << npy_bytes(Shape{2}, std::vector<float>{1, 2});
  std::filesystem::resize_file(path_ + "/K.npy", uint64_t(1) << 42);
  try {
    ArrayFile::open(path_)->read("K");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResource);
    EXPECT_NE(std::string(e.what()).find("4194304 MiB of numbers"), std::string::npos) << e.what();
  }
}

TEST_F(Npz, AFolderOfArraysIsAsGood) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/K.npy", std::ios::binary) << npy_bytes(Shape{2}, std::vector<float>{1, 2});
  std::ofstream(path_ + "/notes.txt") << "x";
  const auto file = ArrayFile::open(path_);
  EXPECT_EQ(file->names(), std::vector<std::string>{"K"});
  EXPECT_EQ(file->read("K").floats(), (std::vector<float>{1, 2}));
  EXPECT_THROW(ArrayFile::open(path_ + "/none.npz"), Error);
}

}  // namespace
}  // namespace vase::cli
