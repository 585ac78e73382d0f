#include "eval/run/json_fields.h"

#include <algorithm>

#include "eval/beginning_of.h"
#include "vase/error.h"

namespace vase::eval {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
  return beginning_of(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

JsonFields::JsonFields(const json& object, const std::string& where) : object_(object), where_(where) {
  if (!object.is_object()) fail("is not an object");
}

const json& JsonFields::any(const char* name) {
  asked_.insert(name);
  const auto found = object_.find(name);
  if (found == object_.end()) fail(std::string("the field '") + name + "' is missing");
  return *found;
}

const json& JsonFields::object(const char* name) {
  const json& value = any(name);
  if (!value.is_object()) fail_value(name, "an object");
  return value;
}

std::string JsonFields::text(const char* name) {
  const json& value = any(name);
  if (!value.is_string()) fail_value(name, "a text");
  return value;
}

bool JsonFields::truth(const char* name) {
  const json& value = any(name);
  if (!value.is_boolean()) fail_value(name, "true or false");
  return value;
}

int64_t JsonFields::integer(const char* name, int64_t low, int64_t high) {
  const json& value = any(name);
  const bool whole = value.is_number_integer() && (!value.is_number_unsigned() ||
                                                   value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  if (!whole || value.get<int64_t>() < low || value.get<int64_t>() > high)
    fail_value(name, "whole numbers from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

double JsonFields::number(const char* name, double low, double high) {
  const json& value = any(name);
  if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high))
    fail_value(name, "numbers from " + shown(low) + " to " + shown(high));
  return value;
}

void JsonFields::null(const char* name, const std::string& because) {
  if (!any(name).is_null()) fail_value(name, "null, " + because);
}

size_t JsonFields::choice(const char* name, const std::vector<std::string_view>& names) {
  const std::string value = text(name);
  const auto found = std::ranges::find(names, value);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string all;
  for (const std::string_view one : names) all += (all.empty() ? "" : ", ") + std::string(one);
  fail_value(name, all);
}

void JsonFields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (!asked_.contains(name)) fail("there is an unknown field '" + beginning_of(name) + "'");
  }
}

void JsonFields::fail(const std::string& what) const {
  throw Error(ErrorCode::kCorrupt, where_ + ": " + what);
}

void JsonFields::fail_value(const char* name, const std::string& allowed) const {
  fail(std::string("the field '") + name + "' is " + shown(object_.at(name)) + "; allowed: " + allowed);
}

}  // namespace vase::eval
