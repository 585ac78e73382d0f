// What the files of the Python module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <vector>

#include "vase/policy.h"

namespace vase::python {

namespace nb = nanobind;

template <typename T, size_t kRank>
using In = nb::ndarray<const T, nb::ndim<kRank>, nb::c_contig, nb::device::cpu>;

template <typename Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.size());
}

// A NumPy array that owns a copy of `numbers`, of the given shape.
template <typename T>
nb::object array_of(std::span<const T> numbers, std::initializer_list<size_t> shape) {
  auto* copy = new std::vector<T>(numbers.begin(), numbers.end());
  const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(copy->data(), shape.size(), shape.begin(), owner));
}

template <typename T>
nb::object array_of(std::span<const T> numbers) {
  return array_of(numbers, {numbers.size()});
}

void bind_policy(nb::module_& module);
void bind_model(nb::module_& module);
void bind_engine(nb::module_& module);
void bind_select(nb::module_& module);

}  // namespace vase::python
