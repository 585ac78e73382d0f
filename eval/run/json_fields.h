// The fields of a JSON object that a file must have: no more, no fewer, each of its own kind.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vase::eval {

class JsonFields {
 public:
  // where: what to call the object in messages. Both must outlive this. Throws Error(kCorrupt) for what is no
  // object.
  JsonFields(const nlohmann::json& object, const std::string& where);

  // All throw Error(kCorrupt) for a field that is missing, or that is not of the kind and range asked for.
  const nlohmann::json& any(const char* name);
  const nlohmann::json& object(const char* name);
  std::string text(const char* name);
  bool truth(const char* name);
  int64_t integer(const char* name, int64_t low, int64_t high);
  double number(const char* name, double low, double high);
  // The field has to be null. because: of the message, why nothing else is allowed.
  void null(const char* name, const std::string& because);
  // Which of the names the text is.
  size_t choice(const char* name, const std::vector<std::string_view>& names);
  // After the last: throws for fields that nothing has asked for.
  void finish() const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_value(const char* name, const std::string& allowed) const;

  const nlohmann::json& object_;
  const std::string& where_;
  std::set<std::string> asked_;
};

}  // namespace vase::eval
