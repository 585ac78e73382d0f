#include "policies/parse.h"

#include <algorithm>
#include <array>

#include "policies/part_options.h"
#include "policies/parts.h"
#include "policies/presets.h"
#include "policies/score/mixture.h"
#include "policies/score_terms.h"
#include "policies/select/top.h"
#include "policies/words.h"
#include "vase/error.h"

namespace vase {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kBlanks = " \t\r\n";

template <typename Part>
std::vector<std::string_view> names_of(std::span<const PartEntry<Part>* const> parts) {
  std::vector<std::string_view> names;
  for (const auto* part : parts) names.push_back(part->name);
  return names;
}

// A part, and its index in the table that it was found in.
template <typename Part>
struct Parsed {
  size_t index;
  std::shared_ptr<const Part> part;
};

// pieces: "name" or "name:option", then further options.
template <typename Part>
Parsed<Part> parse_part(std::span<const Word> pieces, std::string_view kind,
                        std::span<const PartEntry<Part>* const> parts) {
  const size_t colon = pieces[0].text.find(':');
  const Word name = pieces[0].part(0, colon);
  std::vector<Word> options(pieces.begin() + 1, pieces.end());
  if (colon != std::string_view::npos) options.insert(options.begin(), pieces[0].part(colon + 1));
  const auto entry = std::find_if(parts.begin(), parts.end(), [&](const auto* p) { return p->name == name.text; });
  if (entry == parts.end()) fail_unknown(name, kind, names_of(parts));
  PartOptions reader(name, options);
  auto part = (*entry)->parse(reader);
  reader.finish();
  return {static_cast<size_t>(entry - parts.begin()), std::move(part)};
}

// Whether the piece of a list of rules is an option of the rule before it.
bool continues_rule(std::string_view piece) {
  const size_t equals = piece.find('=');
  return equals != std::string_view::npos && piece.find(':') > equals;
}

std::shared_ptr<const Scorer> parse_scorer(Word word) {
  return parse_part(split(word, ",", false), "score", scorer_parts()).part;
}

// "0.5*a-0.5*b": one part stays itself, more become a mixture.
std::shared_ptr<const Scorer> parse_score(Word word) {
  std::vector<Mixture::Term> terms(1);
  for (const ScoreTerm& term : split_terms(word)) {
    if (!terms.back().factors.empty()) terms.emplace_back();
    terms.back().weight = term.weight;
    for (const Word& factor : term.factors) terms.back().factors.push_back(parse_scorer(factor));
  }
  if (terms.size() == 1 && terms[0].weight == 1 && terms[0].factors.size() == 1) return terms[0].factors[0];
  return std::make_shared<Mixture>(std::move(terms));
}

class Draft {
 public:
  // Applies one "key=value" word.
  void apply(Word word) {
    const size_t equals = word.text.find('=');
    const bool append = equals > 0 && word.text[equals - 1] == '+';
    const Word key = word.part(0, equals - append);
    const Word value = word.part(equals + 1);
    static constexpr std::array<std::string_view, 6> kKeys = {"protect", "score", "select", "order",
                                                              "share",   "read"};
    if (std::find(kKeys.begin(), kKeys.end(), key.text) == kKeys.end()) fail_unknown(key, "key", kKeys);
    if (append && key.text != "protect") fail_at(key, "only protect takes '+='");
    if (value.text.empty()) fail_at(value, quoted(word.text) + " needs a value");
    if (key.text == "read") return read(key, value);
    if (reader_) fail_at(key, "a policy with 'read' keeps every token, so it takes no " + std::string(key.text));
    touched_ = true;
    if (key.text == "protect") return protect(value, append);
    if (never_evicts_) fail_at(key, "'full' never evicts, so it takes no " + std::string(key.text));
    if (key.text == "score") score_ = parse_score(value);
    if (key.text == "select") select_ = parse_part(split(value, ",", false), "select", selector_parts()).part;
    if (key.text == "order") order_ = Order(parse_name(value, "order", std::array{"position"sv, "score"sv}));
    if (key.text == "share") share_ = Share(parse_name(value, "share", std::array{"head"sv, "layer"sv, "model"sv}));
  }

  void start_from_preset(Word name) {
    if (const PolicyInfo* preset = find_file_preset(name.text)) {
      fail_at(name, quoted(name.text) + " needs a file: write it as \"" + preset->text + "\"; `vase policies " +
                        preset->name + "` tells how to make one");
    }
    const PolicyInfo* preset = find_preset(name.text);
    if (!preset) fail_unknown_preset(name);
    never_evicts_ = preset->text == name.text;
    if (never_evicts_) return;
    for (const Word& word : split({preset->text, 0}, kBlanks, true)) apply(word);
  }

  Policy build() && {
    if (reader_) return Policy(std::move(reader_));
    if (never_evicts_) return Policy();
    if (!score_) {
      throw Error(ErrorCode::kUsage, "policy: give the name of a preset, or score=... with one of: " +
                                         joined(names_of(scorer_parts())) + "; or read=... with one of: " +
                                         joined(names_of(reader_parts())));
    }
    if (!select_) select_ = std::make_shared<Top>();
    std::vector<std::shared_ptr<const Protector>> rules;
    for (auto& rule : rules_) {
      if (rule) rules.push_back(std::move(rule));
    }
    Policy policy(std::move(rules), std::move(score_), std::move(select_));
    policy.order = order_;
    policy.share = share_;
    return policy;
  }

 private:
  void read(Word key, Word value) {
    if (touched_ || never_evicts_) {
      fail_at(key, "'read' keeps every token and stands alone: it goes with no preset, protect, score or select");
    }
    reader_ = parse_part(split(value, ",", false), "reader", reader_parts()).part;
  }

  void protect(Word value, bool append) {
    if (!append) rules_.assign(rules_.size(), nullptr);
    if (value.text == "none") return;
    const std::vector<Word> pieces = split(value, ",", false);
    std::vector<bool> given(rules_.size());
    for (size_t from = 0; from < pieces.size();) {
      size_t to = from + 1;
      while (to < pieces.size() && continues_rule(pieces[to].text)) ++to;
      auto rule = parse_part(std::span(pieces).subspan(from, to - from), "rule of protection", protector_parts());
      if (given[rule.index]) fail_at(pieces[from], "this rule is given twice");
      given[rule.index] = true;
      rules_[rule.index] = std::move(rule.part);
      from = to;
    }
  }

  // Index of the value among `names`, which are in the order of their enum.
  static size_t parse_name(Word value, std::string_view kind, std::span<const std::string_view> names) {
    const auto found = std::find(names.begin(), names.end(), value.text);
    if (found == names.end()) fail_unknown(value, kind, names);
    return found - names.begin();
  }

  [[noreturn]] static void fail_unknown_preset(Word name) {
    std::vector<std::string_view> names;
    for (const PolicyInfo& preset : Policy::presets()) names.push_back(preset.name);
    for (const PolicyInfo& preset : file_presets()) names.push_back(preset.name);
    fail_unknown(name, "policy", names);
  }

  bool never_evicts_ = false;
  bool touched_ = false;  // some other key than `read` was given
  std::shared_ptr<const Reader> reader_;
  std::vector<std::shared_ptr<const Protector>> rules_{protector_parts().size()};  // by index in the table
  std::shared_ptr<const Scorer> score_;
  std::shared_ptr<const Selector> select_;
  Order order_ = Order::kPosition;
  Share share_ = Share::kHead;
};

}  // namespace

Policy parse_policy(std::string_view text) {
  const std::vector<Word> words = split({text, 0}, kBlanks, true);
  Draft draft;
  std::vector<std::string_view> seen;
  for (const Word& word : words) {
    const size_t equals = word.text.find('=');
    if (equals == std::string_view::npos) {
      if (&word != &words[0]) fail_at(word, quoted(word.text) + " is neither the first word nor a key=value");
      draft.start_from_preset(word);
      continue;
    }
    const std::string_view key = word.text.substr(0, equals);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) fail_at(word, quoted(key) + " is given twice");
    if (key != "protect+") seen.push_back(key);
    draft.apply(word);
  }
  return std::move(draft).build();
}

Policy Policy::parse(std::string_view text) { return parse_policy(text); }

}  // namespace vase
