// Results as one page.
#pragma once

#include <string>
#include <vector>

#include "eval/report/document.h"
#include "eval/report/kl_lines.h"
#include "eval/run/summary.h"

namespace vase::eval::report {

struct ReportInput {
  std::string title;
  std::vector<ResultSet> sets;  // of folders with different names
  std::vector<KlFile> kl;
  std::string build;  // version of the program that makes the page
};

// Throws Error: kUsage when two folders are of one run; kNotFound when there is nothing to show.
Document make_report(const ReportInput& input);

}  // namespace vase::eval::report
