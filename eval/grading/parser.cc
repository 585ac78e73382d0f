#include "eval/grading/parser.h"

#include <algorithm>
#include <iterator>

#include "eval/grading/descent.h"
#include "eval/grading/notation.h"
#include "eval/grading/vocabulary.h"

namespace vase::eval::grading {
namespace {

bool is_whole(const Node& node) { return node.kind == Kind::kNumber && std::ranges::all_of(node.text, is_digit); }

}  // namespace

Node times(Node left, Node right) {
  if (left.kind != Kind::kProduct) left = {Kind::kProduct, "", {std::move(left)}};
  left.text.clear();
  left.parts.push_back(std::move(right));
  return left;
}

bool Parser::take(TokenType type, std::string_view text) {
  if (!at(type, text)) return false;
  ++at_;
  return true;
}

void Parser::expect(std::string_view symbol) {
  if (!take_symbol(symbol)) throw Unreadable{};
}

Node Parser::answer() {
  Node all = list();
  if (peek().type != TokenType::kFinish) throw Unreadable{};
  return all;
}

Node Parser::list() {
  const auto take_separators = [&] {
    bool any = false;
    while (take_symbol(",") || take_symbol(";")) any = true;
    return any;
  };
  Node all{Kind::kList, "", {}};
  all.parts.push_back(relation());
  while (take_separators()) all.parts.push_back(relation());
  return all.parts.size() == 1 ? std::move(all.parts[0]) : std::move(all);
}

char Parser::relation_sign() {
  if (take_symbol("=")) return sign::kEqual;
  if (take_symbol("<")) return sign::kLess;
  if (take_symbol(">")) return sign::kGreater;
  if (take_command("le")) return sign::kAtMost;
  if (take_command("ge")) return sign::kAtLeast;
  if (take_command("ne")) return sign::kNotEqual;
  if (take_command("in")) return sign::kIn;
  if (take_command("approx")) return sign::kAbout;
  return 0;
}

Node Parser::relation() {
  if (take_symbol("=") || take_command("approx")) return set();  // "= 5"
  Node all{Kind::kRelation, "", {}};
  all.parts.push_back(set());
  while (const char sign = relation_sign()) {
    all.text += sign;
    all.parts.push_back(set());
  }
  return all.text.empty() ? std::move(all.parts[0]) : std::move(all);
}

Node Parser::set() {
  Node all{Kind::kUnion, "", {}};
  do all.parts.push_back(sum());
  while (take_command("cup"));
  return all.parts.size() == 1 ? std::move(all.parts[0]) : std::move(all);
}

Node Parser::sum() {
  const Descent descent(depth_);
  Node all{Kind::kSum, "", {}};
  const auto sign_ahead = [&] {
    return at_symbol("+") || at_symbol("-") || at(TokenType::kCommand, "pm") || at(TokenType::kCommand, "mp");
  };
  do all.parts.push_back(term());
  while (sign_ahead());
  return all.parts.size() == 1 ? std::move(all.parts[0]) : std::move(all);
}

// A product with the signs in front of it.
Node Parser::term() {
  bool negative = false;
  std::string both;
  for (;;) {
    if (take_symbol("-"))
      negative = !negative;
    else if (take_command("pm"))
      both = "+";
    else if (take_command("mp"))
      both = "-";
    else if (!take_symbol("+"))
      break;
  }
  Node term = product();
  if (negative) term = {Kind::kNegative, "", {std::move(term)}};
  if (!both.empty()) term = {Kind::kPlusMinus, both, {std::move(term)}};
  return term;
}

Node Parser::product() {
  if (words_ahead()) {
    Node words = prose();
    if (!starts_factor()) return words;  // else they tell what the number behind them is
  }
  Node all = factor();
  for (;;) {
    if (take_symbol("*"))
      all = times(std::move(all), signed_factor());
    else if (take_symbol("/") || (colon_divides_ && take_symbol(":")))
      all = divided(std::move(all));
    else if (unit_ahead())
      skip_units();
    else if (starts_factor())
      all = juxtaposed(std::move(all));
    else
      return all;
  }
}

// Words where a factor could begin; two letters or three may as well be variables.
bool Parser::words_ahead() const {
  if (peek().type == TokenType::kText) return true;
  return peek().type == TokenType::kWord && (peek().text.size() > 3 || peek(1).type == TokenType::kWord);
}

Node Parser::prose() {
  Node words{Kind::kText, "", {}};
  const auto is_part = [](TokenType type) {
    return type == TokenType::kText || type == TokenType::kWord || type == TokenType::kLetter;
  };
  while (is_part(peek().type)) words.text += (words.text.empty() ? "" : " ") + tokens_[at_++].text;
  return words;
}

Node Parser::divided(Node left) {
  if (peek().type == TokenType::kText || (peek().type == TokenType::kWord && unit_ahead())) {  // "5 dollars/hour"
    skip_units();
    return left;
  }
  Node inverse{Kind::kQuotient, "", {}};
  inverse.parts.push_back({Kind::kNumber, "1", {}});
  inverse.parts.push_back(signed_factor());
  return times(std::move(left), std::move(inverse));
}

// The next factor stands directly behind the left one.
Node Parser::juxtaposed(Node left) {
  if (peek().type == TokenType::kNumber) return mixed_number(std::move(left));
  const bool fraction = at(TokenType::kCommand, "frac"), brackets = at_symbol("(");
  const bool name = left.kind == Kind::kName;
  Node right = factor();
  if (fraction && is_whole(left) && right.kind == Kind::kQuotient && std::ranges::all_of(right.parts, is_whole)) {
    return {Kind::kSum, "", {std::move(left), std::move(right)}};  // 1\frac{4}{5}
  }
  Node all = times(std::move(left), std::move(right));
  if (name && brackets) all.text = "()";
  return all;
}

// "1 4/5"; two numbers side by side are nothing else.
Node Parser::mixed_number(Node whole) {
  const bool fits = is_whole(whole) && peek(1).type == TokenType::kSymbol && peek(1).text == "/" &&
                    peek(2).type == TokenType::kNumber;
  if (!fits) throw Unreadable{};
  Node fraction{Kind::kQuotient, "", {{Kind::kNumber, peek(0).text, {}}, {Kind::kNumber, peek(2).text, {}}}};
  at_ += 3;
  return {Kind::kSum, "", {std::move(whole), std::move(fraction)}};
}

// Words behind a quantity. A short word may be a product of variables unless it is a known unit.
bool Parser::unit_ahead() const {
  const Token& token = peek();
  if (token.type == TokenType::kText) return true;
  return token.type == TokenType::kWord && (is_unit(token.text) || (token.space && token.text.size() >= 3));
}

// "cm^2", "miles per hour", "dollars/day". Nothing but a sign, a relation or the end may follow.
void Parser::skip_units() {
  const auto is_word = [&](size_t ahead) {
    const Token& token = peek(ahead);
    const bool letter = token.type == TokenType::kLetter && (token.space || ahead > 0);  // "a day", "km/h"
    return letter || token.type == TokenType::kText || token.type == TokenType::kWord;
  };
  for (;;) {
    if (is_word(0))
      ++at_;
    else if (at_symbol("/") && is_word(1))
      at_ += 2;
    else if (take_symbol("^"))
      exponent();
    else
      break;
  }
  if (starts_factor()) throw Unreadable{};
}

bool Parser::starts_factor() const {
  const Token& token = peek();
  switch (token.type) {
    case TokenType::kNumber:
    case TokenType::kLetter:
    case TokenType::kWord:
    case TokenType::kText:
    case TokenType::kBegin:
      return true;
    case TokenType::kSymbol:
      return token.text == "(" || token.text == "[" || token.text == "{" || token.text == "\\{" ||
             (token.text == "|" && !bar_ends_);
    case TokenType::kCommand: {
      constexpr std::string_view kOthers[] = {"pm", "mp",     "cup",  "le",     "ge",     "ne",
                                              "in", "approx", "circ", "degree", "rfloor", "rceil"};
      return std::ranges::find(kOthers, token.text) == std::end(kOthers);
    }
    default:
      return false;
  }
}

}  // namespace vase::eval::grading
