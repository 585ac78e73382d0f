#include "eval/grading/vocabulary.h"

#include <algorithm>
#include <iterator>

namespace vase::eval::grading {
namespace {

using Entry = std::pair<std::string_view, Known>;

constexpr Known command(std::string_view name) { return {TokenType::kCommand, name}; }
constexpr Known symbol(std::string_view text) { return {TokenType::kSymbol, text}; }
constexpr Known kNothing = {TokenType::kSymbol, ""};

constexpr Entry kWords[] = {
    {"and", symbol(",")}, {"or", symbol(",")}, {"percent", symbol("%")}, {"pct", symbol("%")},
    {"degrees", command("degree")}, {"degree", command("degree")}, {"deg", command("degree")},
    {"sqrt", command("sqrt")}, {"pi", command("pi")}, {"infinity", command("infty")}, {"inf", command("infty")},
    {"oo", command("infty")}};

// Those that stand for something else; functions and letters stand for themselves.
constexpr Entry kCommands[] = {
    {"dfrac", command("frac")}, {"tfrac", command("frac")}, {"cfrac", command("frac")}, {"frac", command("frac")},
    {"sqrt", command("sqrt")}, {"binom", command("binom")}, {"dbinom", command("binom")},
    {"tbinom", command("binom")}, {"boxed", command("boxed")}, {"fbox", command("boxed")}, {"pi", command("pi")},
    {"infty", command("infty")}, {"emptyset", command("emptyset")}, {"varnothing", command("emptyset")},
    {"reals", command("reals")}, {"lfloor", command("lfloor")}, {"rfloor", command("rfloor")},
    {"lceil", command("lceil")}, {"rceil", command("rceil")}, {"circ", command("circ")},
    {"degree", command("degree")}, {"prime", symbol("'")}, {"pm", command("pm")}, {"mp", command("mp")},
    {"cup", command("cup")}, {"angle", command("angle")}, {"triangle", command("angle")},
    {"overline", command("angle")}, {"overrightarrow", command("angle")}, {"le", command("le")},
    {"leq", command("le")}, {"leqslant", command("le")}, {"ge", command("ge")}, {"geq", command("ge")},
    {"geqslant", command("ge")}, {"ne", command("ne")}, {"neq", command("ne")}, {"in", command("in")},
    {"approx", command("approx")}, {"lt", symbol("<")}, {"gt", symbol(">")}, {"cdot", symbol("*")},
    {"times", symbol("*")}, {"ast", symbol("*")}, {"div", symbol("/")}, {"colon", symbol(":")}, {"mid", symbol("|")},
    {"vert", symbol("|")}, {"lvert", symbol("|")}, {"rvert", symbol("|")}, {"lbrace", symbol("\\{")},
    {"rbrace", symbol("\\}")}, {"langle", symbol("(")}, {"rangle", symbol(")")}, {"lbrack", symbol("[")},
    {"rbrack", symbol("]")}, {"lparen", symbol("(")}, {"rparen", symbol(")")}, {"big", kNothing}, {"Big", kNothing},
    {"bigg", kNothing}, {"Bigg", kNothing}, {"bigl", kNothing}, {"bigr", kNothing}, {"Bigl", kNothing},
    {"Bigr", kNothing}, {"biggl", kNothing}, {"biggr", kNothing}, {"displaystyle", kNothing}, {"textstyle", kNothing},
    {"limits", kNothing}, {"quad", kNothing}, {"qquad", kNothing}, {"hline", kNothing}, {"thinspace", kNothing},
    {"nonumber", kNothing}};

constexpr Entry kLongSymbols[] = {
    {"**", symbol("^")}, {"<=", command("le")}, {">=", command("ge")}, {"!=", command("ne")}, {"==", symbol("=")},
    {"+/-", command("pm")}};

constexpr std::string_view kFunctions[] = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log", "lg",
    "exp"};

constexpr std::string_view kSymbolNames[] = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega", "ell"};

constexpr std::string_view kUnits[] = {
    "mm", "cm", "dm", "km", "in", "ft", "yd", "mi", "mg", "kg", "lb", "lbs", "oz", "ml", "mL", "hr", "hrs", "min",
    "mins", "sec", "secs", "ms", "mph", "kph", "inch", "inches", "feet", "foot", "yard", "yards", "mile", "miles",
    "meter", "meters", "metre", "metres", "hour", "hours", "minute", "minutes", "second", "seconds", "day", "days",
    "week", "weeks", "month", "months", "year", "years", "cent", "cents", "dollar", "dollars", "square", "cubic",
    "unit", "units", "sq", "pm", "am", "USD"};

template <typename Table>
bool holds(const Table& table, std::string_view word) {
  return std::ranges::find(table, word) != std::end(table);
}

template <size_t n>
std::optional<Known> find(const Entry (&table)[n], std::string_view word) {
  const auto found = std::ranges::find(table, word, &Entry::first);
  return found == std::end(table) ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<Known> known_word(std::string_view word) {
  const auto function = std::ranges::find(kFunctions, word);
  if (function != std::end(kFunctions)) return command(*function);
  return find(kWords, word);
}

std::optional<Known> known_command(std::string_view name) {
  if (is_function(name) || is_symbol_name(name)) return command(name);
  return find(kCommands, name);
}

std::span<const Entry> long_symbols() { return kLongSymbols; }

bool is_function(std::string_view command) { return holds(kFunctions, command); }
bool is_symbol_name(std::string_view command) { return holds(kSymbolNames, command); }
bool is_unit(std::string_view word) { return holds(kUnits, word); }

}  // namespace vase::eval::grading
