// `vase report`: results of `vase eval` as one page.
#include "eval/report/report.h"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "eval/run/results_file.h"
#include "eval_report.h"
#include "flags.h"
#include "interrupt.h"
#include "json_output.h"
#include "output.h"

namespace vase::cli {
namespace {

using nlohmann::json;

struct ReportFlags {
  std::vector<std::string> inputs;
  std::string out, markdown, title = "Results of vase eval";
  bool json = false;
};

// What the pages must not replace: what they are made from, and each other.
void refuse_same_files(const ReportFlags& o) {
  std::vector<std::pair<std::string, std::string>> taken;
  for (const std::string& input : o.inputs) {
    refuse_overwriting("the input", input, taken);  // given twice it would count twice
    taken.emplace_back("the input " + input, input);
  }
  for (const std::string& input : o.inputs) {
    for (const char* name : {eval::kConfigName, eval::kResultsName})
      taken.emplace_back("a file of " + input, input + "/" + name);
  }
  refuse_overwriting("--out", o.out, taken);
  taken.emplace_back("--out", o.out);
  refuse_overwriting("--markdown", o.markdown, taken);
}

eval::report::ReportInput read_inputs(const ReportFlags& o) {
  eval::report::ReportInput input{.title = o.title, .sets = {}, .kl = {}, .build = build_id()};
  for (const std::string& path : o.inputs) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      input.sets.push_back(eval::read_result_set(path));
    } else {
      input.kl.push_back(eval::report::read_kl_file(path));
    }
  }
  return input;
}

void write_pages(const ReportFlags& o, const eval::report::Document& document) {
  OutputFile page(o.out);
  std::optional<OutputFile> markdown;
  if (!o.markdown.empty()) markdown.emplace(o.markdown);
  page.write(eval::report::html_page(document));
  if (markdown) markdown->write(eval::report::markdown_page(document));
  page.commit();
  if (markdown) markdown->commit();
}

json summary(const ReportFlags& o, const eval::report::ReportInput& input) {
  json kl = json::array();
  for (const eval::report::KlFile& file : input.kl) kl.push_back(eval::report::kl_file_json(file));
  json object = results_json(input.sets);
  object.update(
      {{"kl", kl}, {"page", o.out}, {"markdown", o.markdown.empty() ? json(nullptr) : json(o.markdown)}});
  return object;
}

void tell(const ReportFlags& o, const eval::report::ReportInput& input) {
  size_t texts = 0;
  for (const eval::ResultSet& set : input.sets) texts += set.results.size();
  std::fprintf(stderr, "%s: %zu texts of %zu runs, %zu files of divergences\n", o.out.c_str(), texts,
               input.sets.size(), input.kl.size());
}

}  // namespace

int report_command(const Arguments& arguments) {
  ReportFlags o;
  CLI::App app(
      "Makes one page, with tables and figures, of folders of `vase eval run` and files of `vase eval kl "
      "--out`.",
      "report");
  app.add_option("input", o.inputs, "folders and files, as many as belong on the page")
      ->required()
      ->type_name("");
  add_path(app, "--out", o.out, "the page: one HTML file that needs no other");
  app.get_option("--out")->required();
  add_path(app, "--markdown", o.markdown, "its tables as Markdown as well");
  add_text(app, "--title", o.title, "of the page (Results of vase eval)");
  app.add_flag("--json", o.json, "print all numbers as one JSON object");
  if (!parse(app, arguments)) return kExitOk;
  check_utf8("--title", o.title);
  refuse_same_files(o);
  watch_interrupts();
  const eval::report::ReportInput input = read_inputs(o);
  write_pages(o, eval::report::make_report(input));
  o.json ? print_json(summary(o, input), 2) : tell(o, input);
  return kExitOk;
}

}  // namespace vase::cli
