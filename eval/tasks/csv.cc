#include "eval/tasks/csv.h"

#include <algorithm>

#include "vase/error.h"

namespace vase::eval {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow next = row();
      if (next.cells.size() > 1 || !next.cells[0].empty()) rows.push_back(std::move(next));
    }
    return rows;
  }

 private:
  CsvRow row() {
    CsvRow row{{}, line_};
    row.cells.push_back(cell());
    while (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      row.cells.push_back(cell());
    }
    skip_line_end();
    return row;
  }

  std::string cell() { return at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell(); }

  std::string plain_cell() {
    const size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const std::string_view cell = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(cell);
  }

  std::string quoted_cell() {
    const size_t opened = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') return closed(std::move(cell));
        ++at_;  // two quotes stand for one
      }
      if (text_[at_] == '\n') ++line_;
      cell += text_[at_];
    }
    fail(opened, "a quote that is opened here is not closed");
  }

  std::string closed(std::string cell) {
    ++at_;
    if (at_ < text_.size() && std::string_view(",\r\n").find(text_[at_]) == std::string_view::npos) {
      fail(line_, "text stands behind a closing quote; a quote inside of a cell is written twice");
    }
    return cell;
  }

  void skip_line_end() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  [[noreturn]] void fail(size_t line, const std::string& what) const {
    throw Error(ErrorCode::kCorrupt, name_ + ":" + std::to_string(line) + ": " + what);
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0, line_ = 1;
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name) { return CsvParser(text, name).rows(); }

}  // namespace vase::eval
