#include "eval/report/table.h"

#include "eval/report/escape.h"

namespace vase::eval::report {
namespace {

std::string html_row(const std::vector<std::string>& cells, const char* tag, size_t names) {
  std::string line = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    line += std::string("<") + tag + (i < names ? "" : " class=\"n\"") + ">" + html_escaped(cells[i]) + "</" +
            tag + ">";
  }
  return line + "</tr>\n";
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += "| " + markdown_escaped(cell) + " ";
  return line + "|\n";
}

}  // namespace

std::string html_table(const Table& table) {
  std::string text =
      "<div class=\"wide\"><table>\n<caption>" + html_escaped(table.title) + "</caption>\n<thead>";
  text += html_row(table.columns, "th", table.names) + "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) text += html_row(row, "td", table.names);
  text += "</tbody>\n</table></div>\n";
  if (!table.note.empty()) text += "<p class=\"note\">" + html_escaped(table.note) + "</p>\n";
  return text;
}

std::string markdown_table(const Table& table) {
  std::string text = "**" + markdown_escaped(table.title) + "**\n\n" + markdown_row(table.columns);
  for (size_t i = 0; i < table.columns.size(); ++i) text += i < table.names ? "|---" : "|---:";
  text += "|\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  if (!table.note.empty()) text += "\n" + markdown_escaped(table.note) + "\n";
  return text + "\n";
}

}  // namespace vase::eval::report
