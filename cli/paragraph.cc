#include "paragraph.h"

#include <sstream>

namespace vase::cli {

constexpr size_t kLineWidth = 100;

std::string paragraph(int indent, const std::string& label, int column, const std::string& text) {
  const size_t start = static_cast<size_t>(column);
  std::string out, line = std::string(indent, ' ') + label;
  const auto end_line = [&] {
    out += line + "\n";
    line.assign(start, ' ');
  };
  if (line.size() + 1 > start) end_line();
  line.resize(start, ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool first = line.size() == start;
    if (!first && line.size() + 1 + word.size() > kLineWidth) end_line();
    if (line.size() > start) line += ' ';
    line += word;
  }
  return out + line + "\n";
}

}  // namespace vase::cli
