#include "tune_bytes.h"

#include <algorithm>
#include <iterator>

#include "output.h"
#include "vase/error.h"

namespace vase::cli {
namespace {

constexpr const char* kTypes[] = {"f16", "q8_0", "q8_0,q4_0", "q4_0"};  // unless told otherwise

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kUsage, message); }

bool fits(const std::string& kv_type, int head_dim) {
  CacheOptions types;
  parse_kv_type(kv_type, types);
  return head_dim % row_block(types.key_type) == 0 && head_dim % row_block(types.value_type) == 0;
}

std::vector<std::string> types_of(const TuneOptions& o, const ModelShape& shape) {
  if (!o.kv_types.empty()) return o.kv_types;
  std::vector<std::string> types(std::begin(kTypes), std::end(kTypes));
  std::erase_if(types, [&](const std::string& type) { return !fits(type, shape.head_dim); });
  return types;
}

// The first position whose logits can differ from those of the full cache.
int64_t first_difference(const MemoryPlan& plan) {
  const int64_t eviction = int64_t(plan.last_budget) + plan.period;
  return plan.recent > 0 ? std::min<int64_t>(eviction, plan.recent) : eviction;
}

}  // namespace

BytesRun::BytesRun(const TuneOptions& options, std::shared_ptr<const Model> model)
    : o_(options), model_(std::move(model)), texts_(o_.texts.read(*model_)) {
  const std::vector<std::string> kv_types = types_of(o_, model_->shape());
  GivenOnce once;
  for (const std::string& text : o_.policies) {
    const auto [name, own] = split_types(text);
    for (const std::string& kv_type : own ? std::vector{*own} : kv_types) buy(kv_type, name, once);
  }
  if (candidates_.empty()) fail("nothing to compare: " + not_measured_.front().why);
  set_first_position();
  require_memory_for(grid_, *model_, texts_, o_.kl, "Give fewer --tokens");
  measured_ = {grid_.rows, eval::noise_floor_rows(o_.kl)};
}

void BytesRun::buy(const std::string& kv_type, const std::string& text, GivenOnce& once) {
  CacheOptions cache = o_.cache.options;
  parse_kv_type(kv_type, cache);
  const Policy policy = o_.cache.parse_evicting(text);
  const std::string name = o_.cache.with_rules(text);
  once.add(text, policy, "--kv-type " + row_types_name(cache.key_type, cache.value_type));
  try {
    const auto bought = eval::buy_cache(model_->shape(), policy, cache, o_.budget_mib, texts_, o_.kl);
    policy.validate(bought.plan.last_budget, cache.buffer);
    grid_.add({name,
               bought.plan.budget,
               {},
               kv_type,
               bought.plan.bytes(),
               eval::settings_json(policy, bought.cache, o_.kl)},
              {policy, name, bought.cache, static_cast<uint64_t>(o_.first_seed)}, o_.seeds);
    candidates_.push_back({name, policy, bought});
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUsage) throw;
    not_measured_.push_back({name, kv_type, e.what()});
  }
}

void BytesRun::set_first_position() {
  from_ = first_difference(candidates_.front().bought.plan);
  for (const Candidate& c : candidates_) from_ = std::min(from_, first_difference(c.bought.plan));
  for (auto& cells : grid_.cells) {
    for (eval::KlCell& cell : cells) cell.count_from = from_;
  }
  const auto longest = static_cast<int64_t>(eval::longest_of(texts_));
  if (from_ < longest) return;
  fail(
      formatted("%g MiB hold the first %lld tokens as they are, and the longest text has %lld: nothing is "
                "lost on these; "
                "give longer texts or fewer megabytes",
                o_.budget_mib, static_cast<long long>(from_), static_cast<long long>(longest)));
}

bool BytesRun::run() {
  return measure_grid(grid_, model_, texts_, o_.kl, from_, [&](const KlMeasured& text) { measured_.add(text); });
}

}  // namespace vase::cli
