#include "text/template_check.h"

#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include "jinja/lexer.h"
#include "jinja/runtime.h"
#include "vase/error.h"

namespace vase::text {
namespace {

// Names of the filters and methods that values of any type have. Which type a value will have is known only when the
// template runs, so a name is unknown when no type has it.
std::set<std::string> builtin_names() {
  // Other spellings that the engine replaces before it looks a filter up.
  std::set<std::string> names = {"count", "d", "e", "trim"};
  const jinja::value examples[] = {
      jinja::mk_val<jinja::value_int>(0),   jinja::mk_val<jinja::value_float>(0.0),
      jinja::mk_val<jinja::value_string>(), jinja::mk_val<jinja::value_bool>(true),
      jinja::mk_val<jinja::value_array>(),  jinja::mk_val<jinja::value_object>(),
      jinja::mk_val<jinja::value_none>(),   jinja::mk_val<jinja::value_undefined>(),
  };
  for (const jinja::value& example : examples) {
    for (const auto& [name, function] : example->get_builtins()) names.insert(name);
  }
  return names;
}

class NameCheck {
 public:
  explicit NameCheck(const std::string& source) : source_(source) {}

  void visit(const jinja::statement& node) const {
    if (const auto* f = dynamic_cast<const jinja::filter_expression*>(&node)) check_filter(node, *f->filter);
    if (const auto* f = dynamic_cast<const jinja::filter_statement*>(&node)) check_filter(node, *f->filter);
    if (const auto* t = dynamic_cast<const jinja::test_expression*>(&node)) check_test(node, *t->test);
    if (const auto* c = dynamic_cast<const jinja::call_expression*>(&node)) check_method(node, *c->callee);
    jinja::context context;
    context.visitor = [this](bool, const jinja::statement*, std::vector<jinja::visitor_pair> groups) {
      for (const auto& [label, children] : groups) {
        for (const jinja::statement* child : children) {
          if (child) visit(*child);
        }
      }
    };
    node.visit(context);
  }

 private:
  // Name of `f` or of `f(...)`; empty when it is neither.
  static std::string name_of(const jinja::statement& node) {
    if (const auto* call = dynamic_cast<const jinja::call_expression*>(&node)) return name_of(*call->callee);
    const auto* name = dynamic_cast<const jinja::identifier*>(&node);
    return name ? name->val : std::string();
  }

  void check_filter(const jinja::statement& node, const jinja::statement& filter) const {
    const std::string name = name_of(filter);
    if (!name.empty() && !names_.contains(name)) fail(node, "filter", name);
  }

  void check_test(const jinja::statement& node, const jinja::statement& test) const {
    const std::string name = name_of(test);
    if (!name.empty() && !jinja::global_builtins().contains("test_is_" + name)) fail(node, "test", name);
  }

  void check_method(const jinja::statement& node, const jinja::statement& callee) const {
    const auto* member = dynamic_cast<const jinja::member_expression*>(&callee);
    if (!member || member->computed) return;
    const std::string name = name_of(*member->property);
    if (!name.empty() && !names_.contains(name)) fail(node, "method", name);
  }

  [[noreturn]] void fail(const jinja::statement& node, const char* kind, const std::string& name) const {
    throw Error(ErrorCode::kUnsupported, "chat template, " + line_and_column(source_, node.pos) + ": unknown " + kind +
                                             " '" + name + "'");
  }

  const std::string& source_;
  std::set<std::string> names_ = builtin_names();
};

constexpr int kDeepest = 200;        // blocks and brackets around one word
constexpr size_t kLongestTag = 4000;  // words and signs between {% and %} or {{ and }}

// Follows the tokens of a template and knows how deep the parser is.
class Depth {
 public:
  void read(const jinja::token& t) {
    using Kind = jinja::token;
    switch (t.t) {
      case Kind::open_statement:
      case Kind::open_expression:
        tag_ = 0;
        brackets_ = 0;
        name_.clear();
        assigns_ = false;
        break;
      case Kind::close_statement:
        enter_or_leave_block();
        brackets_ = 0;
        break;
      case Kind::open_paren:
      case Kind::open_square_bracket:
      case Kind::open_curly_bracket:
        ++brackets_;
        break;
      case Kind::close_paren:
      case Kind::close_square_bracket:
      case Kind::close_curly_bracket:
        --brackets_;
        break;
      case Kind::equals:
        assigns_ |= brackets_ == 0;
        break;
      default:
        if (tag_ == 1) name_ = t.value;
    }
    ++tag_;
  }

  int levels() const { return std::accumulate(blocks_.begin(), blocks_.end(), 0) + brackets_; }
  size_t tag() const { return tag_; }

 private:
  // A block that ends in the wrong place is the parser's to refuse: it stops there.
  void enter_or_leave_block() {
    static const std::set<std::string_view> kBlocks = {"if", "for", "macro", "call", "filter", "set"};
    const bool one_line = name_ == "set" && assigns_;
    if (kBlocks.contains(name_) && !one_line) blocks_.push_back(1);
    if (blocks_.empty()) return;
    if (name_ == "elif") ++blocks_.back();  // the parser nests each in the one before
    if (name_.starts_with("end") && kBlocks.contains(std::string_view(name_).substr(3))) blocks_.pop_back();
  }

  size_t tag_ = 0;           // tokens of this tag so far
  int brackets_ = 0;         // open in this tag
  std::string name_;         // first word of this tag
  bool assigns_ = false;     // there is a "=" outside of brackets in it
  std::vector<int> blocks_;  // levels that each open block takes
};

}  // namespace

void check_template_depth(const jinja::lexer_result& lexed) {
  Depth depth;
  for (const jinja::token& token : lexed.tokens) {
    if (token.t == jinja::token::text || token.t == jinja::token::comment) continue;
    depth.read(token);
    if (depth.levels() <= kDeepest && depth.tag() <= kLongestTag) continue;
    const std::string what = depth.levels() > kDeepest
                                 ? "nested more than " + std::to_string(kDeepest) + " levels deep"
                                 : "more than " + std::to_string(kLongestTag) + " words and signs in one tag";
    throw Error(ErrorCode::kUnsupported, "chat template, " + line_and_column(lexed.source, token.pos) + ": " + what +
                                             "; too much for the engine");
  }
}

void check_template_names(const jinja::program& program, const std::string& source) {
  const NameCheck check(source);
  for (const auto& statement : program.body) check.visit(*statement);
}

std::string line_and_column(const std::string& source, size_t offset) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < source.size(); ++i) {
    column = source[i] == '\n' ? 1 : column + 1;
    line += source[i] == '\n';
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace vase::text
