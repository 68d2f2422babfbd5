// A column-major matrix that owns its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace demo {

template <class T>
struct MatrixOf {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;

  MatrixOf() = default;
  MatrixOf(std::int64_t rows, std::int64_t cols)
      : rows(rows), cols(cols), data(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {}

  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + j * rows)]; }
};

using Matrix = MatrixOf<double>;

}  // namespace demo
