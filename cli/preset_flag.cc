#include "preset_flag.h"

#include "vase/error.h"

namespace vase::cli {

void PresetFlag::add(CLI::App& app) {
  add_path(app, "--preset", path_,
           "in place of the flags that shape the cache: a file of `vase tune --preset-out`, for this model");
}

void PresetFlag::read(const CLI::App& app, CacheFlags& cache) {
  if (path_.empty()) return;
  for (const CacheFlag& flag : kCacheFlags) {
    if (!is_given(app, flag.name)) continue;
    throw Error(ErrorCode::kUsage,
                std::string(flag.name) + " is set by --preset " + path_ + "; leave one of the two out");
  }
  preset_ = eval::read_preset(path_);
  const int context = cache.options.context;
  cache.options = preset_->cache;
  cache.options.context = context;
  cache.policy = preset_->policy;
}

void PresetFlag::check(const ModelShape& shape) const {
  if (!preset_) return;
  eval::require_model(*preset_, shape, path_);
  eval::require_works(*preset_, shape, path_);
}

}  // namespace vase::cli
