#include "eval/run/record.h"

#include <utility>

#include "eval/or_null.h"
#include "eval/run/results_file.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const char* key, const std::string& where) {
  throw Error(ErrorCode::kCorrupt,
              where + ": \"" + key + "\" is missing or of another kind: " + kMendResults);
}

template <typename T>
T field(const json& object, const char* key, const std::string& where) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    fail(key, where);
  }
}

// A whole number from 0 on that T has room for.
template <typename T>
T count(const json& object, const char* key, const std::string& where) {
  const json value = field<json>(object, key, where);
  if (!value.is_number_integer()) fail(key, where);
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<uint64_t>())
                                               : value.get<int64_t>() >= 0 && std::in_range<T>(value.get<int64_t>());
  if (!fits) fail(key, where);
  return value.get<T>();
}

Item read_item(const json& line, const std::string& where) {
  return {.task = field<std::string>(line, "task", where),
          .problem_id = field<std::string>(line, "id", where),
          .policy = field<std::string>(line, "policy", where),
          .budget = count<int>(line, "budget", where),
          .run = count<int>(line, "run", where),
          .sample = count<int>(line, "sample", where),
          .seed = count<uint64_t>(line, "seed", where),
          .evict_seed = count<uint64_t>(line, "evict_seed", where)};
}

Timing read_timing(const json& line, const std::string& where) {
  return {.process = field<std::string>(line, "process", where),
          .start = field<double>(line, "start", where),
          .seconds = field<double>(line, "seconds", where),
          .tokens_per_s = field<double>(line, "tokens_per_s", where)};
}

}  // namespace

std::string Item::text() const {
  const std::string at = budget > 0 ? " at " + std::to_string(budget) : "";
  return problem_id + " of " + task + ", " + policy + at + ", run " + std::to_string(run) + ", sample " +
         std::to_string(sample);
}

std::string result_line(const Result& r, const Generation& g) {
  json line = {{"task", r.item.task},
               {"id", r.item.problem_id},
               {"policy", r.item.policy},
               {"budget", r.item.budget},
               {"run", r.item.run},
               {"sample", r.item.sample},
               {"seed", r.item.seed},
               {"evict_seed", r.item.evict_seed},
               {"expected", r.expected},
               {"extracted", or_null(r.extracted)},
               {"right", r.judged ? json(r.right) : json(nullptr)},
               {"finish", r.finish},
               {"label", r.label},
               {"prompt_tokens", r.prompt_tokens},
               {"generated_tokens", r.generated_tokens},
               {"evicted", r.evicted},
               {"kv_bytes", r.kv_bytes},
               {"timing",
                {{"process", r.timing.process},
                 {"start", r.timing.start},
                 {"seconds", r.timing.seconds},
                 {"tokens_per_s", r.timing.tokens_per_s}}},
               {"prompt", g.prompt},
               {"text", g.text}};
  if (!g.prompt_ids.empty()) line["prompt_ids"] = g.prompt_ids;
  if (!g.tokens.empty()) line["tokens"] = g.tokens;
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result read_result(const json& line, const std::string& where) {
  Result r{.item = read_item(line, where),
           .expected = field<std::string>(line, "expected", where),
           .extracted = {},
           .finish = field<std::string>(line, "finish", where),
           .label = field<std::string>(line, "label", where),
           .prompt_tokens = count<int>(line, "prompt_tokens", where),
           .generated_tokens = count<int>(line, "generated_tokens", where),
           .evicted = count<int64_t>(line, "evicted", where),
           .kv_bytes = count<uint64_t>(line, "kv_bytes", where),
           .timing = read_timing(field<json>(line, "timing", where), where)};
  r.judged = !field<json>(line, "right", where).is_null();
  if (r.judged) r.right = field<bool>(line, "right", where);
  if (const json extracted = field<json>(line, "extracted", where); !extracted.is_null()) {
    r.extracted = field<std::string>(line, "extracted", where);
  }
  return r;
}

json without_timing(json line) {
  line.erase("timing");
  return line;
}

}  // namespace vase::eval
