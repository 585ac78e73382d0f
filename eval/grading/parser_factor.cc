// Factors: numbers, names, brackets, and what commands make of them.
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "eval/grading/descent.h"
#include "eval/grading/parser.h"
#include "eval/grading/vocabulary.h"

namespace vase::eval::grading {
namespace {

constexpr int kMostBehind = 16;  // exponents, factorials and the like behind one primary

Node call(std::string name, Node argument) { return {Kind::kCall, std::move(name), {std::move(argument)}}; }

Node name(std::string text) { return {Kind::kName, std::move(text), {}}; }

Node negated(Node node) { return {Kind::kNegative, "", {std::move(node)}}; }

bool is_minus_one(const Node& node) {
  return node.kind == Kind::kNegative && node.parts[0].kind == Kind::kNumber && node.parts[0].text == "1";
}

}  // namespace

Node Parser::signed_factor() {
  bool negative = false;
  while (at_symbol("-") || at_symbol("+")) negative ^= tokens_[at_++].text == "-";
  Node all = factor();
  return negative ? negated(std::move(all)) : all;
}

Node Parser::factor() {
  Node all = primary();
  for (int behind = 0; behind < kMostBehind; ++behind) {
    if (take_symbol("^"))
      all = raised(std::move(all));
    else if (take_symbol("_"))
      all = indexed(std::move(all));
    else if (take_symbol("!"))
      all = call("factorial", std::move(all));
    else if (take_symbol("%"))
      all = {Kind::kPercent, "", {std::move(all)}};
    else if (take_command("degree"))
      all = {Kind::kDegrees, "", {std::move(all)}};
    else if (at_symbol("'") && all.kind == Kind::kName)
      all.text += tokens_[at_++].text;
    else
      return all;
  }
  throw Unreadable{};
}

// Behind "^".
Node Parser::raised(Node base) {
  const auto is_circle = [&](size_t ahead) {
    const Token& token = peek(ahead);
    return token.type == TokenType::kCommand && (token.text == "circ" || token.text == "degree");
  };
  const bool in_braces = at_symbol("{") && is_circle(1) && peek(2).text == "}";
  if (in_braces || is_circle(0)) {
    at_ += in_braces ? 3 : 1;
    return {Kind::kDegrees, "", {std::move(base)}};
  }
  Node power = exponent();
  return {Kind::kPower, "", {std::move(base), std::move(power)}};
}

Node Parser::exponent() {
  const Descent descent(depth_);
  bool negative = false;
  while (at_symbol("-") || at_symbol("+")) negative ^= tokens_[at_++].text == "-";
  Node power = argument();
  if (take_symbol("^")) power = raised(std::move(power));
  return negative ? negated(std::move(power)) : power;
}

// Behind "_".
Node Parser::indexed(Node base) {
  if (base.kind == Kind::kNumber) return {Kind::kBased, base.text, {name(index())}};
  if (base.kind != Kind::kName) throw Unreadable{};
  base.text += "_" + index();
  return base;
}

// A token, or all in braces, as it stands; braces in it count for nothing.
std::string Parser::index() {
  if (peek().type == TokenType::kFinish) throw Unreadable{};
  if (!take_symbol("{")) return tokens_[at_++].text;
  std::string text;
  for (int open = 1;;) {
    if (peek().type == TokenType::kFinish) throw Unreadable{};
    const bool opens = at_symbol("{"), closes = at_symbol("}");
    open += opens - closes;
    const Token& token = tokens_[at_++];
    if (open == 0) return text;
    if (!opens && !closes) text += token.text;
  }
}

// Every letter of the word that is next is a variable, so that an exponent belongs to the last alone.
void Parser::spell_out() {
  std::vector<Token> letters;
  for (char c : peek().text) letters.push_back({TokenType::kLetter, std::string(1, c)});
  const auto word = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
  tokens_.insert(tokens_.erase(word), letters.begin(), letters.end());
}

Node Parser::primary() {
  const Descent descent(depth_);
  if (peek().type == TokenType::kWord) spell_out();
  const Token token = peek();
  ++at_;
  switch (token.type) {
    case TokenType::kNumber:
      return {Kind::kNumber, token.text, {}};
    case TokenType::kLetter:
      return name(token.text);
    case TokenType::kCommand:
      return command(token.text);
    case TokenType::kBegin:
      return matrix(token.text);
    case TokenType::kSymbol:
      return symbol(token.text);
    default:
      throw Unreadable{};
  }
}

Node Parser::symbol(const std::string& text) {
  if (text == "{") return take_symbol("}") ? primary() : braces();
  if (text == "|") return absolute();
  if (text == "(" || text == "[" || text == "\\{") return group(text);
  throw Unreadable{};
}

Node Parser::command(const std::string& text) {
  if (text == "frac") return fraction();
  if (text == "sqrt") return root();
  if (text == "binom") return binomial();
  if (text == "boxed") return argument();
  if (text == "pi") return name(text);
  if (text == "infty") return name("inf");
  if (text == "emptyset") return {Kind::kGroup, "{}", {}};
  if (text == "reals") return {Kind::kGroup, "()", {negated(name("inf")), name("inf")}};
  if (text == "lfloor") return rounded("floor", "rfloor");
  if (text == "lceil") return rounded("ceil", "rceil");
  if (text == "angle") return {Kind::kText, index(), {}};  // "\angle ABC", "\overline{AB}"
  if (is_function(text)) return function(text);
  if (is_symbol_name(text)) return name(text);
  throw Unreadable{};
}

// \sin^2 x, \sin^{-1} x, \log_2 x
Node Parser::function(const std::string& text) {
  std::optional<Node> power, base;
  for (;;) {
    if (take_symbol("^"))
      power = exponent();
    else if (text == "log" && take_symbol("_"))
      base = one_digit();
    else
      break;
  }
  const bool inverse = power && is_minus_one(*power);
  if (inverse && !is_function("arc" + text)) throw Unreadable{};
  Node all = call(inverse ? "arc" + text : text, function_argument());
  if (base) all.parts.push_back(std::move(*base));
  if (!power || inverse) return all;
  return {Kind::kPower, "", {std::move(all), std::move(*power)}};
}

// What brackets hold, or factors side by side up to the next function.
Node Parser::function_argument() {
  if (at_symbol("(") || at_symbol("{")) return primary();
  const auto goes_on = [&] {
    const bool variable = peek().type == TokenType::kLetter || peek().type == TokenType::kWord;
    const bool other = peek().type == TokenType::kCommand && !is_function(peek().text);
    return (variable || other || at_symbol("{")) && starts_factor() && !unit_ahead();
  };
  Node all = factor();
  while (goes_on()) all = times(std::move(all), factor());
  return all;
}

Node Parser::fraction() {
  Node above = one_digit(), below = one_digit();
  return {Kind::kQuotient, "", {std::move(above), std::move(below)}};
}

Node Parser::root() {
  Node degree{Kind::kNumber, "2", {}};
  if (take_symbol("[")) {
    degree = sum();
    expect("]");
  }
  Node radicand = argument();
  return {Kind::kCall, "root", {std::move(radicand), std::move(degree)}};
}

Node Parser::binomial() {
  Node above = one_digit(), below = one_digit();
  return {Kind::kCall, "binom", {std::move(above), std::move(below)}};
}

Node Parser::rounded(const std::string& text, const std::string& closing) {
  Node inner = sum();
  if (!take_command(closing)) throw Unreadable{};
  return call(text, std::move(inner));
}

Node Parser::one_digit() {
  if (peek().type != TokenType::kNumber || peek().text.size() == 1) return argument();
  std::string& digits = tokens_[at_].text;
  Node digit{Kind::kNumber, digits.substr(0, 1), {}};
  digits.erase(0, 1);
  return digit;
}

Node Parser::argument() { return take_symbol("{") ? braces() : primary(); }

Node Parser::braces() {
  const bool bar_ends = std::exchange(bar_ends_, false), colon_divides = std::exchange(colon_divides_, true);
  Node inner = list();
  expect("}");
  bar_ends_ = bar_ends;
  colon_divides_ = colon_divides;
  if (inner.kind != Kind::kList) return inner;
  return {Kind::kGroup, "{}", std::move(inner.parts)};
}

Node Parser::group(const std::string& opening) {
  const bool is_set = opening == "\\{";
  if (is_set && take_symbol("\\}")) return {Kind::kGroup, "{}", {}};
  const bool bar_ends = std::exchange(bar_ends_, is_set), colon_divides = std::exchange(colon_divides_, !is_set);
  Node inner = list();
  const bool condition = is_set && (take_symbol("|") || take_symbol(":"));
  if (condition) inner = list();
  bar_ends_ = bar_ends;
  colon_divides_ = colon_divides;
  const std::string closing = peek().type == TokenType::kSymbol ? peek().text : "";
  ++at_;
  const std::string brackets = std::string(1, opening.back()) + (closing.empty() ? ' ' : closing.back());
  constexpr std::string_view kBrackets[] = {"()", "(]", "[)", "[]", "{}"};
  if (std::ranges::find(kBrackets, brackets) == std::end(kBrackets) || (closing == "}")) throw Unreadable{};
  const bool single = inner.kind != Kind::kList;
  if (single && (condition || brackets == "()" || brackets == "[]")) return inner;
  if (single && brackets != "{}") throw Unreadable{};
  if (single) return {Kind::kGroup, brackets, {std::move(inner)}};
  return {Kind::kGroup, brackets, std::move(inner.parts)};
}

Node Parser::absolute() {
  const bool bar_ends = std::exchange(bar_ends_, true);
  Node inner = sum();
  expect("|");
  bar_ends_ = bar_ends;
  return call("abs", std::move(inner));
}

Node Parser::matrix(const std::string& environment) {
  constexpr std::string_view kKinds[] = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"};
  if (std::ranges::find(kKinds, environment) == std::end(kKinds)) throw Unreadable{};
  if (environment == "array" && at_symbol("{")) index();  // "{cc}"
  Node all{Kind::kMatrix, "", {}};
  do {
    if (peek().type == TokenType::kEnd) break;  // \\ behind the last row
    all.parts.push_back(row());
    if (all.parts.back().parts.size() != all.parts[0].parts.size()) throw Unreadable{};
  } while (take_symbol("\\\\"));
  if (peek().type != TokenType::kEnd || all.parts.empty()) throw Unreadable{};
  ++at_;
  return all;
}

Node Parser::row() {
  Node all{Kind::kGroup, "[]", {}};
  do all.parts.push_back(sum());
  while (take_symbol("&"));
  return all;
}

}  // namespace vase::eval::grading
