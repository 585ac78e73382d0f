// `vase eval merge`: joins the shards of a run.
#include <cstdio>
#include <filesystem>

#include "eval/printable.h"
#include "eval/run/merge.h"
#include "eval/run/results_file.h"
#include "flags.h"
#include "interrupt.h"
#include "output.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

namespace fs = std::filesystem;

// What is there is never overwritten. Whether it had to be made.
bool make_empty_folder(const std::string& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (there && (!fs::is_directory(path, error) || !fs::is_empty(path, error))) {
    throw Error(ErrorCode::kUsage, path + " is there and not an empty folder; give the name of a new one");
  }
  if (!there && !fs::create_directories(path, error)) {
    throw Error(ErrorCode::kResource, "cannot make the folder " + path + ": " + error.message());
  }
  return !there;
}

void merge_into(const std::string& out, const std::vector<std::string>& folders) {
  OutputFile results(out + "/" + eval::kResultsName), config(out + "/" + eval::kConfigName);
  const eval::Merged merged =
      eval::merge_results(folders, [&](std::string_view line) { results.write(line); });
  config.write(merged.config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  results.commit();
  config.commit();
  for (const std::string& file : merged.torn)
    std::fprintf(stderr, "vase: the last line of %s was torn and left out\n", eval::printable(file).c_str());
  const auto expected = merged.config["items"].get<long long>();
  std::fprintf(stderr, "%lld of %lld texts in %s", static_cast<long long>(merged.results), expected,
               out.c_str());
  if (merged.repeated > 0)
    std::fprintf(stderr, "; %lld came twice and were equal", static_cast<long long>(merged.repeated));
  std::fputc('\n', stderr);
}

}  // namespace

int eval_merge_command(const Arguments& arguments) {
  std::string out;
  std::vector<std::string> folders;
  CLI::App app("Joins folders of `vase eval run` that have one configuration, such as the shards of a run.",
               "eval merge");
  app.add_option("out", out, "folder that is made")->type_name("");
  app.add_option("in", folders, "folders to join")->type_name("");
  if (!parse(app, arguments)) return kExitOk;
  if (out.empty()) throw Error(ErrorCode::kUsage, "nothing to merge; give the folder to make, and the folders to merge");
  if (folders.empty())
    throw Error(ErrorCode::kUsage, "nothing to merge into " + out + "; give the folders to merge behind it");
  watch_interrupts();
  for (const std::string& folder : folders) eval::read_config(folder);  // before anything is made
  const bool made = make_empty_folder(out);
  try {
    merge_into(out, folders);
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove(out, ignored);
    throw;
  }
  return kExitOk;
}

}  // namespace vase::cli
