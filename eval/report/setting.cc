#include "eval/report/setting.h"

namespace vase::eval::report {
namespace {

using nlohmann::json;

// Null where there is none.
json value_of(const json& settings, const std::string& pointer) {
  const json::json_pointer place(pointer.starts_with('/') ? pointer : "/" + pointer);
  return settings.contains(place) ? settings.at(place) : json();
}

}  // namespace

std::string setting(const json& settings, const std::string& pointer) {
  const json value = value_of(settings, pointer);
  if (value.empty()) return "-";  // null, or a list without anything
  const std::string text = value.is_string() ? value.get<std::string>()
                                             : value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.empty() ? "-" : text;
}

std::string setting(const ResultSet& set, const std::string& pointer) {
  return setting(set.config["config"], pointer);
}

int64_t number_setting(const ResultSet& set, const std::string& pointer, int64_t otherwise) {
  const json value = value_of(set.config["config"], pointer);
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

bool is_server(const ResultSet& set) { return setting(set, "server") != "-"; }

// Earlier versions have the address in the configuration itself.
std::string server_of(const ResultSet& set) {
  const json address = set.config.value("server", json());
  return address.is_string() ? address.get<std::string>() : setting(set, "server");
}

}  // namespace vase::eval::report
