#include "eval/run/hash.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace vase::eval {
namespace {

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t hash_text(std::string_view text, uint64_t start) {
  uint64_t hash = 0xCBF29CE484222325u ^ mixed(start);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return mixed(hash);
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
