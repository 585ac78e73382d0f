// The folder of a run: config.json, which says what was asked for, and results.jsonl, which grows by a line
// whenever a generation is finished. A process that is killed at any moment loses no finished line, and the
// next one goes on from there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/run/folder_results.h"
#include "eval/run/record.h"
#include "eval/sandbox/descriptor.h"

namespace vase::eval {

class ResultsFolder {
 public:
  // Opens the folder, or makes it, and keeps others from writing it until the object goes (or the process
  // dies). config: as config_json() gives it. A torn last line is cut off. Throws Error:
  //  kUsage     the folder holds results of another configuration, or other things
  //  kResource  another process is writing it, or it cannot be written
  //  kCorrupt   its files are not what a run has written, with file and line
  ResultsFolder(const std::string& path, const nlohmann::json& config);

  // What is finished: found in the folder, and appended since.
  const std::vector<Result>& results() const { return results_.list(); }
  bool has(const Item& item) const { return results_.has(item); }
  // Bytes of a torn line that were cut off.
  uint64_t torn() const { return torn_; }

  // Throws Error(kResource), for instance when the disk is full; the file then ends with the line before.
  void append(const Result& result, const Generation& generation);

 private:
  void require_own(const nlohmann::json& config) const;
  void open_and_lock();
  void load();
  [[noreturn]] void fail(const std::string& path, int error) const;

  std::string path_, file_;
  Descriptor descriptor_;
  uint64_t size_ = 0, torn_ = 0;  // bytes
  FolderResults results_;
};

}  // namespace vase::eval
