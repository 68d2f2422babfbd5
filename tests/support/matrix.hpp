// Small column-major matrices with guards: everything around and between the columns is a NaN that no test writes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "vernier/vernier.hpp"

namespace vernier::test {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
Bits<T> bits_of(T x) {
  return std::bit_cast<Bits<T>>(x);
}

// All that is given, one after the other.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// A quiet NaN with a payload of its own: whoever reads it spoils a result, whoever writes over it is found out.
template <class T>
T poison() {
  return std::bit_cast<T>(static_cast<Bits<T>>(sizeof(T) == 4 ? 0x7fc0deadu : 0x7ff8deadbeefdeadu));
}

template <class T>
class Matrix {
 public:
  static constexpr std::int64_t guard = 16;  // elements before and behind the matrix

  Matrix() : Matrix(0, 0) {}
  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t pad = 0)
      : rows_(rows), columns_(columns), ld_(std::max<std::int64_t>(1, rows) + pad) {
    storage_.assign(static_cast<std::size_t>(2 * guard + ld_ * columns), poison<T>());
  }

  template <class Element>
  static Matrix of(std::int64_t rows, std::int64_t columns, Element element) {
    Matrix x(rows, columns);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i) x(i, j) = static_cast<T>(element(i, j));
    return x;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t ld() const { return ld_; }
  T* data() { return storage_.data() + guard; }
  const T* data() const { return storage_.data() + guard; }
  T& operator()(std::int64_t i, std::int64_t j) { return data()[i + j * ld_]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return data()[i + j * ld_]; }

  // "" or where an element outside of the matrix was written.
  std::string broken_guard() const {
    const auto size = static_cast<std::int64_t>(storage_.size());
    for (std::int64_t p = 0; p < size; ++p) {
      const std::int64_t offset = p - guard;
      const bool inside = offset >= 0 && offset < ld_ * columns_ && offset % ld_ < rows_;
      if (!inside && bits_of(storage_[static_cast<std::size_t>(p)]) != bits_of(poison<T>()))
        return joined("guard at offset ", offset, " (ld ", ld_, ") was written");
    }
    return "";
  }

 private:
  std::int64_t rows_, columns_, ld_;
  std::vector<T> storage_;
};

template <class T>
Matrix<T> transposed(const Matrix<T>& x) {
  return Matrix<T>::of(x.columns(), x.rows(), [&](auto i, auto j) { return x(j, i); });
}

template <class T>
Matrix<T> padded(const Matrix<T>& x, std::int64_t pad) {
  Matrix<T> y(x.rows(), x.columns(), pad);
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) y(i, j) = x(i, j);
  return y;
}

// The matrix whose op() is x.
template <class T>
Matrix<T> stored(Op op, const Matrix<T>& x, std::int64_t pad = 0) {
  return padded(op == Op::none ? x : transposed(x), pad);
}

// Row i of the result is row order[i] of x.
template <class T>
Matrix<T> rows_in_order(const Matrix<T>& x, const std::vector<std::int64_t>& order) {
  return Matrix<T>::of(x.rows(), x.columns(), [&](auto i, auto j) { return x(order[static_cast<std::size_t>(i)], j); });
}

}  // namespace vernier::test
