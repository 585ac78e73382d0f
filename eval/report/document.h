// A report before it is HTML or Markdown.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "eval/report/table.h"

namespace vase::eval::report {

struct Figure {
  std::string title;
  std::string svg;  // a whole <svg> element
  std::string how_to_read;
};

using Block = std::variant<std::string, Table, Figure>;  // a string is a paragraph

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Document {
  std::string title;
  std::vector<Section> sections;  // those without blocks are left out
  std::string foot;               // the last line
};

// One file that needs no other: styles inside, no scripts. It is well-formed XML as well.
std::string html_page(const Document& document);
// The same without figures.
std::string markdown_page(const Document& document);

}  // namespace vase::eval::report
