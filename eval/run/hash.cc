#include "eval/run/hash.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "eval/random.h"

namespace vase::eval {

TextHash::TextHash(uint64_t start) : bytes_(Fnv::kBasis ^ mixed(start)) {}

uint64_t TextHash::value() const { return mixed(bytes_.value()); }

uint64_t hash_text(std::string_view text, uint64_t start) {
  TextHash hash(start);
  hash.add(text);
  return hash.value();
}

std::string hex_digits(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

uint64_t derived_seed(uint64_t base, const std::string& purpose, const std::string& task,
                      const std::string& problem, int sample) {
  // As JSON no two lists of parts look alike, whatever is in the names.
  const nlohmann::json parts = {purpose, task, problem, sample};
  return hash_text(parts.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), base);
}

}  // namespace vase::eval
