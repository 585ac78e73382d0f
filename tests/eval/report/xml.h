// A strict little reader of XML: a page that it accepts is well-formed. It knows elements, attributes, text
// and the entities that pages use, and nothing else.
#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vase::test {

struct Element {
  std::string name, text;  // text: of this element alone, entities resolved
  std::map<std::string, std::string> attributes;
};

class XmlReader {
 public:
  // Throws std::runtime_error that names the place.
  static std::vector<Element> elements(std::string_view page) {
    XmlReader reader(page);
    reader.read();
    return reader.elements_;
  }

 private:
  explicit XmlReader(std::string_view page) : page_(page) {}

  void read() {
    if (page_.starts_with("<!DOCTYPE html>")) at_ = 15;
    bool rooted = false;
    while (at_ < page_.size()) {
      if (page_[at_] != '<') {
        text();
      } else if (peek(1) == '/') {
        close();
      } else {
        require(!open_.empty() || !rooted, "a second root");
        rooted = true;
        open();
      }
    }
    require(rooted && open_.empty(),
            open_.empty() ? "nothing there" : "not closed: " + elements_[open_.back()].name);
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < page_.size() ? page_[at_ + ahead] : '\0'; }
  void require(bool good, const std::string& what) const {
    if (!good)
      throw std::runtime_error(what + " at " + std::to_string(at_) + ": " +
                               std::string(page_.substr(at_, 40)));
  }
  void expect(char c) {
    require(peek() == c, std::string("expected ") + c);
    ++at_;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\n') ++at_;
  }
  std::string name() {
    const size_t end =
        page_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:", at_);
    require(end != std::string_view::npos && end > at_ && std::isalpha(static_cast<unsigned char>(peek())),
            "no name");
    const std::string word(page_.substr(at_, end - at_));
    at_ = end;
    return word;
  }
  // One character or entity of text or of an attribute.
  char character() {
    const char c = peek();
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t', "a control character");
    ++at_;
    if (c != '&') return c;
    for (const auto& [entity, value] : {std::pair("amp;", '&'), std::pair("lt;", '<'), std::pair("gt;", '>'),
                                        std::pair("quot;", '"'), std::pair("#39;", '\'')}) {
      if (!page_.substr(at_).starts_with(entity)) continue;
      at_ += std::string_view(entity).size();
      return value;
    }
    require(false, "an ampersand that is no entity");
    return c;
  }
  void text() {
    while (at_ < page_.size() && peek() != '<') {
      const char c = character();
      if (open_.empty()) {
        require(c == '\n', "text outside of the root");
      } else {
        elements_[open_.back()].text += c;
      }
    }
  }
  void open() {
    expect('<');
    Element element{name(), "", {}};
    for (skip_blanks(); peek() != '>' && peek() != '/'; skip_blanks()) {
      const std::string key = name();
      expect('=');
      expect('"');
      std::string value;
      while (peek() != '"') {
        require(peek() != '<', "< in an attribute");
        value += character();
      }
      expect('"');
      require(element.attributes.emplace(key, value).second, "the attribute " + key + " twice");
    }
    const bool empty = peek() == '/';
    if (empty) ++at_;
    expect('>');
    if (!empty) open_.push_back(elements_.size());
    elements_.push_back(element);
  }
  void close() {
    at_ += 2;
    const std::string closed = name();
    require(!open_.empty() && elements_[open_.back()].name == closed, "closes " + closed);
    open_.pop_back();
    expect('>');
  }

  std::string_view page_;
  size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<size_t> open_;
};

}  // namespace vase::test
