#include "golden/golden_case.h"

#include <filesystem>
#include <fstream>
#include <numeric>

namespace vase::golden {
namespace {

const std::filesystem::path kRoot = VASE_GOLDEN_DIR;

template <typename T>
std::vector<double> read_numbers(const std::filesystem::path& file, size_t offset, size_t count) {
  std::ifstream in(file, std::ios::binary);
  std::vector<T> raw(count);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {raw.begin(), raw.end()};
}

Tensor read_tensor(const nlohmann::json& entry) {
  Tensor tensor{entry.at("shape").get<std::vector<int>>(), {}};
  const size_t count =
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), size_t{1}, std::multiplies<size_t>());
  const auto file = kRoot / entry.at("file").get<std::string>();
  const auto offset = entry.at("offset").get<size_t>();
  const auto type = entry.at("dtype").get<std::string>();
  if (type == "f32") tensor.data = read_numbers<float>(file, offset, count);
  if (type == "f64") tensor.data = read_numbers<double>(file, offset, count);
  if (type == "i32") tensor.data = read_numbers<int32_t>(file, offset, count);
  return tensor;
}

}  // namespace

bool available() { return std::filesystem::exists(kRoot / "index.json"); }

nlohmann::json read_json(const std::string& name) {
  std::ifstream in(kRoot / (name + ".json"));
  return nlohmann::json::parse(in);
}

std::vector<std::string> cases(const std::string& prefix) {
  std::vector<std::string> names;
  const nlohmann::json index = read_json("index");
  for (const auto& entry : index.at("cases")) {
    const auto name = entry.at("case").get<std::string>();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  return names;
}

Case::Case(const std::string& name) : name_(name), json_(read_json(name)) {
  for (const auto& entry : json_.at("tensors")) {
    tensors_.emplace(entry.at("name").get<std::string>(), read_tensor(entry));
  }
}

}  // namespace vase::golden
