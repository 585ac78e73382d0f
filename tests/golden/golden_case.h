// Reads one golden case: a JSON object and the tensors that it names.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vase::golden {

// Numbers of one tensor as doubles (exact for f32, f64 and i32), row-major.
struct Tensor {
  std::vector<int> shape;
  std::vector<double> data;

  template <typename... Index>
  double at(Index... index) const {
    size_t flat = 0, axis = 0;
    ((flat = flat * shape[axis++] + index), ...);
    return data[flat];
  }
  // The innermost row at the given outer indices.
  template <typename T = float, typename... Index>
  std::vector<T> row(Index... index) const {
    size_t flat = 0, axis = 0;
    ((flat = flat * shape[axis++] + index), ...);
    return {data.begin() + flat * shape.back(), data.begin() + (flat + 1) * shape.back()};
  }
};

class Case {
 public:
  // name: "evict/d1_attn"
  explicit Case(const std::string& name);

  const std::string& name() const { return name_; }
  const nlohmann::json& json() const { return json_; }
  std::string mode() const { return json_.at("reference").value("mode", ""); }
  int param(const std::string& key) const { return json_.at("params").at(key).get<int>(); }
  double number(const std::string& key) const { return json_.at("params").at(key).get<double>(); }
  bool flag(const std::string& key) const { return json_.at("params").at(key).get<bool>(); }
  bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
  const Tensor& operator[](const std::string& tensor) const { return tensors_.at(tensor); }

 private:
  std::string name_;
  nlohmann::json json_;
  std::map<std::string, Tensor> tensors_;
};

bool available();
nlohmann::json read_json(const std::string& name);
// Names of all cases that start with `prefix`, in the index's order.
std::vector<std::string> cases(const std::string& prefix);

}  // namespace vase::golden

#define VASE_SKIP_WITHOUT_GOLDEN() \
  if (!vase::golden::available()) GTEST_SKIP() << "no golden vectors in " VASE_GOLDEN_DIR " (set VASE_SHARED_DIR)"
