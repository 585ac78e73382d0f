// peer_answers beside `vase eval run`: libllama gives the same texts, in a folder of the same form.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/cli_fixture.h"

namespace vase {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class PeerAnswers : public Cli {
 protected:
  PeerAnswers() {
    fs::create_directory(folder_);
    std::ofstream out(folder_ + "/problems.jsonl");
    for (const char* id : {"p0", "p1", "p2"}) {
      out << json({{"id", id}, {"problem", std::string("How many? ") + id}, {"answer", "7"}}).dump() << "\n";
    }
  }
  ~PeerAnswers() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  Outcome reference(const std::string& name, const std::string& model, const std::string& flags) const {
    return vase("eval run --threads 1 --model " + model + " --task jsonl=" + path("problems.jsonl") +
                " --max-tokens 40 --out " + path(name) + " " + flags);
  }
  Outcome peer(const std::string& model, const std::string& reference, const std::string& out) const {
    return program(VASE_PEER_ANSWERS " " + model + " " + path(reference) + " " + path(out));
  }
  // What texts hold besides their times, by id.
  std::map<std::string, json> lines(const std::string& name) const {
    std::map<std::string, json> all;
    std::ifstream in(path(name) + "/results.jsonl");
    for (std::string text; std::getline(in, text);) {
      json line = json::parse(text);
      for (const char* field : {"timing", "policy", "kv_bytes"}) line.erase(field);
      EXPECT_TRUE(all.emplace(line["id"].get<std::string>(), line).second);
    }
    return all;
  }

  const std::string folder_ = test::temporary_path(".peer");
  // Says "\boxed{7}" and ends.
  test::TinyModel right_{
      {.embedding = 512, .cycle = {'\\', 'b', 'o', 'x', 'e', 'd', '{', '7', '}', test::kImEnd}}};
};

TEST_F(PeerAnswers, AreThoseOfTheReference) {
  ASSERT_EQ(reference("ours", right_.path(), "--greedy --policy full").code, 0);
  const Outcome o = peer(right_.path(), "ours", "theirs");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto ours = lines("ours"), theirs = lines("theirs");
  ASSERT_EQ(ours.size(), 3u);
  EXPECT_EQ(theirs, ours);
  EXPECT_EQ(theirs.at("p1")["right"], true);
  EXPECT_EQ(theirs.at("p1")["finish"], "eos");
}

// Texts that no end token ends: both stop after 40 tokens, and the model goes on with "abcdef".
TEST_F(PeerAnswers, EndWhereTheReferenceDoes) {
  ASSERT_EQ(reference("ours", model_.path(), "--greedy --policy full").code, 0);
  ASSERT_EQ(peer(model_.path(), "ours", "theirs").code, 0);
  EXPECT_EQ(lines("theirs"), lines("ours"));
  EXPECT_EQ(lines("theirs").at("p0")["finish"], "length");
  EXPECT_EQ(lines("theirs").at("p0")["generated_tokens"], 40);
}

TEST_F(PeerAnswers, AreAFolderThatShowsAndGoesOn) {
  ASSERT_EQ(reference("ours", right_.path(), "--greedy --policy full").code, 0);
  ASSERT_EQ(peer(right_.path(), "ours", "theirs").code, 0);
  const std::string file = path("theirs") + "/results.jsonl", whole = contents(file);
  fs::resize_file(file, whole.size() - 10);  // a torn last line
  ASSERT_EQ(peer(right_.path(), "ours", "theirs").code, 0);
  EXPECT_EQ(lines("theirs").size(), 3u);
  const Outcome shown = vase("eval show --json " + path("theirs") + " " + path("ours"));
  ASSERT_EQ(shown.code, 0) << shown.err;
  const json row = json::parse(shown.out)["rows"][0];
  EXPECT_EQ(row["policy"], "libllama");
  EXPECT_EQ(row["pass_at_1"], 1);
  EXPECT_EQ(row["against_full"]["difference"], 0);
}

TEST_F(PeerAnswers, RefuseWhatCannotBeCompared) {
  ASSERT_EQ(reference("drawn", right_.path(), "--policy full").code, 0);
  ASSERT_EQ(reference("evicting", right_.path(), "--greedy --policy random --kv-budget 80").code, 0);
  for (const auto& [name, word] : {std::pair("drawn", "not greedy"),
                                   {"evicting", "no texts of the full cache"},
                                   {"nowhere", "cannot read"}}) {
    const Outcome o = peer(right_.path(), name, "theirs");
    EXPECT_EQ(o.code, 1) << name;
    EXPECT_NE(o.err.find(word), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(path("theirs"))) << name;
  }
  ASSERT_EQ(reference("ours", right_.path(), "--greedy --policy full").code, 0);
  EXPECT_NE(peer("/nowhere.gguf", "ours", "theirs").err.find("cannot load /nowhere.gguf"), std::string::npos);
}

}  // namespace
}  // namespace vase
