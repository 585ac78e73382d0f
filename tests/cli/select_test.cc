// `vase select`: shapes, results worked out by hand, outputs, and every wrong input.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "arrays/array_file.h"
#include "cli_fixture.h"

namespace vase {
namespace {

using cli::ArrayFile;
using cli::npy_bytes;
using nlohmann::json;
using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;
using Shape = std::vector<size_t>;

class Select : public Cli {
 protected:
  ~Select() override {
    for (const std::string& path : {in_, out_ + ".npy", out_ + ".npz", out_ + ".json"})
      std::filesystem::remove_all(path);
  }
  void write(std::vector<std::pair<std::string, std::string>> arrays) const {
    std::ofstream(in_, std::ios::binary) << cli::npz_bytes(arrays);
  }
  // 6 tokens, 2 channels, 2 heads. Sizes of the values: 1 5 2 4 3 0 in head 0, the other way round in head 1.
  void write_two_heads() const {
    Floats keys(24), values;
    for (float size : {1, 5, 2, 4, 3, 0, 0, 3, 4, 2, 5, 1}) values.insert(values.end(), {size, 0});
    write({{"K", npy_bytes(Shape{2, 6, 2}, keys)}, {"V", npy_bytes(Shape{2, 6, 2}, values)}});
  }
  Outcome select(const std::string& flags) const { return vase("select --in " + in_ + " " + flags); }
  json result(const std::string& flags) const {
    const Outcome o = select("--json " + flags);
    EXPECT_EQ(o.code, 0) << o.err;
    return json::parse(o.out);
  }
  std::string in_ = test::temporary_path(".npz"), out_ = test::temporary_path("");
  const std::string by_value_ = "--policy score=value --kv-budget 3 --kv-buffer 1 ";
};

TEST_F(Select, LargestValuesOfEveryHeadByHand) {
  write_two_heads();
  const json j = result(by_value_ + "--prompt-tokens 2");
  ASSERT_EQ(j["heads"].size(), 2u);
  EXPECT_EQ(j["heads"][0]["kept"], (Integers{1, 3, 5}));
  EXPECT_EQ(j["heads"][1]["kept"], (Integers{2, 4, 5}));
  EXPECT_EQ(j["heads"][0]["scores"], (Floats{1, 5, 2, 4, 3}));
  EXPECT_EQ(j["heads"][1]["kv_head"], 1);
  EXPECT_EQ(j["candidates"], 5);
  const json& r = j["retention"][0];
  EXPECT_DOUBLE_EQ(r["union"], 0.8);    // 1 2 3 4 of 5
  EXPECT_DOUBLE_EQ(r["overlap"], 0);
  EXPECT_DOUBLE_EQ(r["prompt_union"], 0.5);
  EXPECT_DOUBLE_EQ(r["prompt_per_head"], 0.25);
  EXPECT_NEAR(r["value_similarity"].get<double>(), 1, 1e-12);  // all values point along one axis
}

TEST_F(Select, ProtectedRowsAreTold) {
  write_two_heads();
  const json j = result("--policy 'protect=sinks:1 score=value' --kv-budget 3 --kv-buffer 1");
  EXPECT_EQ(j["heads"][0]["protected"], Integers{0});
  EXPECT_EQ(j["heads"][0]["kept"], (Integers{0, 1, 5}));
}

// A query that looks at row 2 alone, for one of two query heads; heads first, as torch has them.
TEST_F(Select, QueriesAreReadHeadsFirst) {
  Floats keys(2 * 5 * 2), values(2 * 5 * 2), queries(2 * 2 * 3 * 2);
  keys[2 * 2] = 8;                 // head 0, token 2, channel 0
  keys[5 * 2 + 1 * 2 + 1] = 8;     // head 1, token 1, channel 1
  queries[(1 * 3 + 2) * 2] = 8;          // query head 1 (of KV head 0), newest query, channel 0
  queries[((2 + 1) * 3 + 2) * 2 + 1] = 8;  // query head 3 (of KV head 1), channel 1
  const auto arrays = [&](const Shape& shape) {
    write({{"keys", npy_bytes(Shape{2, 5, 2}, keys)},
           {"values", npy_bytes(Shape{2, 5, 2}, values)},
           {"queries", npy_bytes(shape, queries)}});
  };
  for (const Shape& shape : {Shape{4, 3, 2}, Shape{2, 2, 3, 2}}) {
    arrays(shape);
    const json j = result("--policy score=attention:smooth=off --kv-budget 2 --kv-buffer 1");
    EXPECT_EQ(j["group"], 2);
    EXPECT_EQ(j["heads"][0]["kept"], (Integers{2, 4}));
    EXPECT_EQ(j["heads"][1]["kept"], (Integers{1, 4}));
    EXPECT_NEAR(j["heads"][0]["scores"][2].get<double>(), (1 + 0.25) / 2,
                1e-6);  // all of one head, a quarter of the other
  }
}

TEST_F(Select, SequencesDrawApartAndPositionsReach) {
  const Floats zeros(2 * 1 * 40 * 2);
  write({{"K", npy_bytes(Shape{2, 1, 40, 2}, zeros)}, {"V", npy_bytes(Shape{2, 1, 40, 2}, zeros)}});
  const std::string random = "--policy random --kv-budget 20 --kv-buffer 4 ";
  const json j = result(random), again = result(random), other = result(random + "--evict-seed 1"),
             later = result(random + "--eviction 1");
  EXPECT_EQ(j, again);
  EXPECT_NE(j["heads"][0]["kept"], j["heads"][1]["kept"]);
  EXPECT_NE(j["heads"][0]["kept"], other["heads"][0]["kept"]);
  EXPECT_NE(j["heads"][0]["kept"], later["heads"][0]["kept"]);

  Integers positions;
  for (int i = 0; i < 40; ++i) positions.push_back(100 + 3 * i);
  write({{"K", npy_bytes(Shape{40, 2}, Floats(80))},
         {"V", npy_bytes(Shape{40, 2}, Floats(80))},
         {"positions", npy_bytes(Shape{40}, positions)}});
  const json one = result("--policy 'score=position' --kv-budget 6 --kv-buffer 4");
  EXPECT_EQ(one["heads"][0]["kept"], (Integers{34, 35, 36, 37, 38, 39}));
  EXPECT_EQ(one["heads"][0]["positions"][0], 100 + 3 * 34);
}

TEST_F(Select, WritesArraysAndJson) {
  write_two_heads();
  EXPECT_EQ(select(by_value_ + "--out " + out_ + ".npy").code, 0);
  const cli::NpyArray kept = cli::read_npy(contents(out_ + ".npy"), "kept");
  EXPECT_EQ(kept.shape, (Shape{2, 3}));
  EXPECT_EQ(kept.integers(), (Integers{1, 3, 5, 2, 4, 5}));
  EXPECT_EQ(select("--policy 'protect=sinks:1 score=value' --kv-budget 3 --kv-buffer 1 --out " + out_ + ".npz").code,
            0);
  const auto all = ArrayFile::open(out_ + ".npz");
  EXPECT_EQ(all->names(), (std::vector<std::string>{"kept", "positions", "scores", "protected"}));
  EXPECT_EQ(all->read("positions").integers(), (Integers{0, 1, 5, 0, 4, 5}));
  EXPECT_EQ(all->read("scores").shape, (Shape{2, 5}));
  const std::string bytes = contents(out_ + ".npz");
  EXPECT_NE(bytes.find("'|b1', 'fortran_order': False, 'shape': (2, 5)"), std::string::npos);
  const Outcome o = select(by_value_ + "--json --out " + out_ + ".json");
  EXPECT_EQ(json::parse(contents(out_ + ".json")), json::parse(o.out));
}

TEST_F(Select, TellsPeopleInATable) {
  write_two_heads();
  const Outcome o = select(by_value_);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("score=value"), std::string::npos);
  EXPECT_NE(o.out.find("oldest kept"), std::string::npos);
  EXPECT_NE(o.out.find("0.800"), std::string::npos) << o.out;
}

TEST_F(Select, ArraysThatAreNotUsedAreNamed) {
  write({{"K", npy_bytes(Shape{3, 2}, Floats(6))},
         {"V", npy_bytes(Shape{3, 2}, Floats(6))},
         {"position", npy_bytes(Shape{3}, Integers{0, 1, 2})}});
  const Outcome o = select("--policy score=value --kv-budget 2 --kv-buffer 1");
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.err.find("array position is not used"), std::string::npos) << o.err;
}

TEST_F(Select, WrongShapesTypesAndNumbers) {
  const std::string K = npy_bytes(Shape{2, 3, 2}, Floats(12)), flags = "--policy snapkv --kv-budget 2 --kv-buffer 1";
  const auto refused = [&](std::vector<std::pair<std::string, std::string>> arrays,
                           const std::vector<std::string>& words, int code = 2) {
    write(arrays);
    const Outcome o = select(flags);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.out, "");
    for (const std::string& word : words) EXPECT_NE(o.err.find(word), std::string::npos) << word << "\n" << o.err;
  };
  const auto q = [](Shape shape) {
    size_t count = 1;
    for (size_t n : shape) count *= n;
    return std::pair<std::string, std::string>("Q", npy_bytes(shape, Floats(count)));
  };
  refused({{"V", K}}, {"no array K", "it has V"});
  refused({{"K", K}}, {"no array V"});
  refused({{"K", K}, {"k", K}, {"V", K}}, {"both K and k"});
  refused({{"K", npy_bytes(Shape{6}, Floats(6))}, {"V", K}}, {": K has shape (6,)", "(heads, tokens, head_dim)"});
  refused({{"K", npy_bytes(Shape{2, 0, 2}, Floats())}, {"V", K}}, {": K has shape (2, 0, 2), which holds nothing"});
  refused({{"K", npy_bytes(Shape{2, 3, 2}, Integers(12))}, {"V", K}}, {": K holds integers"});
  refused({{"K", K}, {"V", npy_bytes(Shape{2, 3, 1}, Floats(6))}}, {": V has shape (2, 3, 1)", "must be equal"});
  refused({{"K", K}, {"V", K}}, {"looks at queries"});
  refused({{"K", K}, {"V", K}, q({4, 2})}, {": Q has shape (4, 2)", "(heads * group, queries, head_dim)"});
  refused({{"K", K}, {"V", K}, q({4, 1, 3})}, {": Q has shape (4, 1, 3)", "head_dim and must be equal"});
  refused({{"K", K}, {"V", K}, q({3, 1, 2})}, {"must be a multiple of the 2 KV heads"});
  refused({{"K", K}, {"V", K}, q({1, 4, 1, 2})}, {"must be a multiple of the 2 KV heads"});
  refused({{"K", K}, {"V", K}, q({4, 9, 2})}, {"queries holds 9 tokens; only 3 were seen"});
  refused({{"K", K}, {"V", K}, q({4, 1, 2}), {"positions", npy_bytes(Shape{2}, Integers{0, 1})}},
          {": positions has shape (2,)", "(3,) or (2, 3)"});
  refused({{"K", K}, {"V", K}, q({4, 1, 2}), {"positions", npy_bytes(Shape{3}, Integers{0, 1, int64_t(1) << 40})}},
          {"holds 1099511627776"});
  refused({{"K", K}, {"V", K}, q({4, 1, 2}), {"positions", npy_bytes(Shape{3}, Floats(3))}}, {"floating-point"});
  refused({{"K", K}, {"V", K}, q({4, 1, 2}), {"positions", npy_bytes(Shape{3}, Integers{0, 2, 1})}},
          {"positions[2] = 1 follows 2"});
  Floats bad(12);
  bad[7] = std::numeric_limits<float>::quiet_NaN();
  refused({{"K", npy_bytes(Shape{2, 3, 2}, bad)}, {"V", K}, q({4, 1, 2})}, {"keys[0][1] is NaN", "KV head 1"});
  refused({{"K", "no array"}, {"V", K}}, {": K is no .npy array"}, 1);
}

// Means of the values' sizes of both heads: 0.5 4 3 3 4; the last is the buffer.
TEST_F(Select, HeadsOfALayerThatShareKeepTheSame) {
  write_two_heads();
  const json j = result("--policy 'score=value share=layer' --kv-budget 3 --kv-buffer 1");
  ASSERT_EQ(j["heads"].size(), 2u);
  for (const json& head : j["heads"]) {
    EXPECT_EQ(head["kept"], (Integers{1, 4, 5}));
    EXPECT_EQ(head["scores"], (Floats{0.5, 4, 3, 3, 4}));
  }
  EXPECT_DOUBLE_EQ(j["retention"][0]["overlap"], 1);
}

TEST_F(Select, AnArrayOfAFolderIsNotOverwritten) {
  std::filesystem::create_directory(in_);
  const std::string rows = npy_bytes(Shape{3, 1}, Floats{1, 2, 3}), keys = in_ + "/K.npy";
  for (const std::string& path : {keys, in_ + "/V.npy"}) std::ofstream(path, std::ios::binary) << rows;
  const std::string flags = "--policy score=value --kv-budget 2 --kv-buffer 1 --out ";
  expect_usage_error(select(flags + keys), {"same file as array K of --in"});
  EXPECT_EQ(contents(keys), rows);
  EXPECT_EQ(select(flags + in_ + "/kept.npy").code, 0);
}

TEST_F(Select, WrongFlags) {
  write_two_heads();
  expect_usage_error(select("--policy score=value"), {"--kv-budget"});
  expect_usage_error(vase("select --kv-budget 3"), {"--in"});
  expect_usage_error(select("--policy full --kv-budget 3"), {"'full' never evicts"});
  expect_usage_error(select("--policy score=value --kv-budget 7 --kv-buffer 1"), {"fit into the budget of 7"});
  expect_usage_error(select("--policy score=value --kv-budget 3"), {"smallest budget that works here is 65"});
  expect_usage_error(select(by_value_ + "--out x.txt"), {"none of .npy, .npz and .json"});
  expect_usage_error(select(by_value_ + "--out " + in_), {"same file as --in"});
  expect_usage_error(select(by_value_ + "--evict-seed -1"),
                     {"--evict-seed is '-1'; allowed: whole numbers from 0 to 18446744073709551615\n"});
  EXPECT_EQ(vase("select --in /nonexistent.npz " + by_value_).code, 1);
  const Outcome help = vase("select --help");
  EXPECT_NE(help.out.find("(H*G, W, d)"), std::string::npos);
}

}  // namespace
}  // namespace vase
