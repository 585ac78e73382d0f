// --preset: a file of `vase tune --preset-out` in place of the flags that shape a cache.
#pragma once

#include <optional>
#include <string>

#include "eval/run/preset.h"
#include "flags.h"

namespace vase::cli {

class PresetFlag {
 public:
  void add(CLI::App& app);
  // After parsing, when the flag was given: reads the file and sets policy and options; the context stays the
  // flag's. Throws Error(kUsage) for a flag beside it that the preset sets, and what read_preset() throws.
  void read(const CLI::App& app, CacheFlags& cache);
  // Throws Error(kUsage) when the preset was made for another model, or cannot work with it.
  void check(const ModelShape& shape) const;

  bool given() const { return preset_.has_value(); }
  const eval::Preset& preset() const { return *preset_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<eval::Preset> preset_;
};

}  // namespace vase::cli
