// A preset file: the cache that `vase tune` has found best for a model in given megabytes, for other commands
// to take (docs/eval.md, Preset files).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vase/model.h"
#include "vase/options.h"

namespace vase::eval {

struct Preset {
  std::string model, model_name;  // fingerprint; name for people
  std::string build;              // version of the program that wrote it
  std::string name;               // of the policy, as it was asked for
  std::string policy;             // in canonical form
  CacheOptions cache;             // with budget and types; context and max_prompt are the run's own

  // What was measured when it was made.
  struct Measured {
    double kl = 0;                   // nats, mean over texts
    std::optional<double> kl_error;  // standard error over texts; empty for one text
    double noise_floor = 0;          // nats
    int texts = 0, seeds = 0;
    int64_t positions = 0;  // counted ones
    double budget_mib = 0;  // what was given
    uint64_t bytes = 0;     // what a sequence takes, scratch for `threads` included
    int threads = 0;
  } measured;
};

// The content of the file.
std::string preset_text(const Preset& preset);

// Throws Error that names the file and says what to do: kNotFound; kCorrupt for what is no whole preset file,
// with the first field that is wrong; kUnsupported for another format version; kUsage when a file that the
// policy names has changed; what parsing the policy throws.
Preset read_preset(const std::string& path);

// Throws Error(kUsage) unless the preset was made for this model. path: for the message.
void require_model(const Preset& preset, const ModelShape& shape, const std::string& path);
// Throws Error that names the file when the model's cache cannot have all its settings together, such as budgets that fall
// over the layers and the authors' trigger.
void require_works(const Preset& preset, const ModelShape& shape, const std::string& path);

}  // namespace vase::eval
