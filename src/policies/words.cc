#include "policies/words.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "vase/error.h"

namespace vase {
namespace {

constexpr size_t kShown = 40;  // characters of a user's word that an error repeats

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<Word> split(Word word, std::string_view separators, bool skip_empty) {
  std::vector<Word> pieces;
  size_t from = 0;
  while (true) {
    const size_t to = std::min(word.text.find_first_of(separators, from), word.text.size());
    if (to > from || !skip_empty) pieces.push_back(word.part(from, to - from));
    if (to == word.text.size()) return pieces;
    from = to + 1;
  }
}

void fail_at(const Word& word, const std::string& what) {
  throw Error(ErrorCode::kUsage, "policy, character " + std::to_string(word.at + 1) + ": " + what);
}

std::string quoted(std::string_view word) {
  std::string shown(word.substr(0, kShown));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "'" + shown + (word.size() > kShown ? "..." : "") + "'";
}

std::string joined(std::span<const std::string_view> names) {
  std::string list;
  for (std::string_view name : names) (list += list.empty() ? "" : ", ") += name;
  return list;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  word = word.substr(0, kShown);
  return *std::min_element(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
}

std::string unknown_name(std::string_view word, std::string_view kind, std::span<const std::string_view> names) {
  return "unknown " + std::string(kind) + " " + quoted(word) + "; did you mean '" +
         std::string(nearest(word, names)) + "'? There are: " + joined(names);
}

void fail_unknown(const Word& word, std::string_view kind, std::span<const std::string_view> names) {
  fail_at(word, unknown_name(word.text, kind, names));
}

}  // namespace vase
