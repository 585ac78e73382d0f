// A recursive descent over the tokens of an answer. From loose to tight:
//   list      item , item ...               relation  set = set < set ...      set      sum \cup sum ...
//   sum       + term - term \pm term ...    product   factor * factor / factor factor ...
//   factor    primary with what stands behind it: ^ _ ! % \degree
// How deep it descends is bounded, and the tree is not much deeper than that.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "eval/grading/expression.h"
#include "eval/grading/lexer.h"

namespace vase::eval::grading {

// Thrown by Parser, and never out of read_answer().
struct Unreadable {};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Node answer();  // all of it; throws Unreadable

 private:
  class Descent;  // counts how deep we are

  // parser.cc: what holds several things together
  Node list();
  Node relation();
  char relation_sign();  // takes it; 0: there is none
  Node set();
  Node sum();
  Node term();
  Node product();
  Node prose();
  Node divided(Node left);
  Node juxtaposed(Node left);
  Node mixed_number(Node whole);
  void skip_units();
  bool words_ahead() const;
  bool unit_ahead() const;
  bool starts_factor() const;

  // parser_factor.cc: factors
  Node signed_factor();
  Node factor();
  Node raised(Node base);
  Node exponent();
  Node indexed(Node base);
  std::string index();
  void spell_out();
  Node primary();
  Node symbol(const std::string& text);
  Node command(const std::string& name);
  Node function(const std::string& name);
  Node function_argument();
  Node fraction();
  Node root();
  Node binomial();
  Node rounded(const std::string& name, const std::string& closing);
  Node one_digit();  // or a group: what \frac takes
  Node argument();   // a group or one thing: what \sqrt takes
  Node braces();     // behind "{", with the "}"
  Node group(const std::string& opening);
  Node absolute();                              // behind "|", with the other one
  Node matrix(const std::string& environment);  // behind \begin{...}, with its \end
  Node row();

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at(TokenType type, std::string_view text) const { return peek().type == type && peek().text == text; }
  bool at_symbol(std::string_view text) const { return at(TokenType::kSymbol, text); }
  bool take(TokenType type, std::string_view text);
  bool take_symbol(std::string_view text) { return take(TokenType::kSymbol, text); }
  bool take_command(std::string_view name) { return take(TokenType::kCommand, name); }
  void expect(std::string_view symbol);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  bool bar_ends_ = false;      // a "|" ends what is being read, and opens nothing
  bool colon_divides_ = true;  // otherwise it stands in front of the condition of a set
};

// left * right, as one list of factors.
Node times(Node left, Node right);

}  // namespace vase::eval::grading
