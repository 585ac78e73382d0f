#include "eval/report/document.h"

#include <algorithm>

#include "eval/report/escape.h"
#include "eval/report/page_style.h"

namespace vase::eval::report {
namespace {

std::string html_block(const Block& block) {
  if (const auto* text = std::get_if<std::string>(&block)) return "<p>" + html_escaped(*text) + "</p>\n";
  if (const auto* table = std::get_if<Table>(&block)) return html_table(*table);
  const Figure& figure = std::get<Figure>(block);
  return "<figure>\n<figcaption>" + html_escaped(figure.title) + "</figcaption>\n" + figure.svg +
         "<p class=\"note\"><b>How to read this:</b> " + html_escaped(figure.how_to_read) +
         "</p>\n</figure>\n";
}

std::string markdown_block(const Block& block) {
  if (const auto* text = std::get_if<std::string>(&block)) return markdown_escaped(*text) + "\n\n";
  if (const auto* table = std::get_if<Table>(&block)) return markdown_table(*table);
  return "";
}

bool is_figure(const Block& block) { return std::holds_alternative<Figure>(block); }
bool only_figures(const Section& section) { return std::ranges::all_of(section.blocks, is_figure); }

}  // namespace

std::string html_page(const Document& document) {
  const std::string title = html_escaped(document.title);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      title + "</title>\n<style>\n" + kPageStyle + "</style>\n</head>\n<body>\n<h1>" + title + "</h1>\n";
  for (const Section& section : document.sections) {
    if (section.blocks.empty()) continue;
    page += "<section>\n<h2>" + html_escaped(section.title) + "</h2>\n";
    for (const Block& block : section.blocks) page += html_block(block);
    page += "</section>\n";
  }
  return page + "<footer>" + html_escaped(document.foot) + "</footer>\n</body>\n</html>\n";
}

std::string markdown_page(const Document& document) {
  std::string page = "# " + markdown_escaped(document.title) + "\n\n";
  bool figures = false;
  for (const Section& section : document.sections) {
    figures |= std::ranges::any_of(section.blocks, is_figure);
    if (only_figures(section)) continue;
    page += "## " + markdown_escaped(section.title) + "\n\n";
    for (const Block& block : section.blocks) page += markdown_block(block);
  }
  return page + (figures ? "The figures are in the HTML page. " : "") + markdown_escaped(document.foot) +
         "\n";
}

}  // namespace vase::eval::report
