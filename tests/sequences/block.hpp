// Column-major matrices of any type of the C interface, guards around and between their columns, and hostile data.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "support/random.hpp"
#include "vernier/vernier.h"

namespace vernier::sequences {

using test::Random;
using Complex = std::complex<double>;
using Element = std::function<Complex(std::int64_t, std::int64_t)>;  // of a matrix: row, column

template <class T>
const T& one_of(Random& random, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(list.size()) - 1))];
}
inline bool chance(Random& random, double share) { return random.uniform() < share; }

struct Type {
  vernier_type letter;
  bool single() const { return letter == VERNIER_S || letter == VERNIER_C; }
  bool complex() const { return letter == VERNIER_C || letter == VERNIER_Z; }
  std::size_t bytes() const { return (single() ? 4u : 8u) * (complex() ? 2u : 1u); }
  Complex rounded(Complex x) const;  // as the type holds it
  void store(Complex x, void* to) const;
  Complex load(const void* from) const;
};

enum class Kind {
  normal,
  integer,
  wide,
  huge,
  tiny,
  denormal,
  zero,
  zero_lines,
  one,
  powers,
  cancelling,
  nan,
  infinite,
  mixed
};
inline constexpr int kinds = 14, finite_kinds = 11;

class Matrix {
 public:
  Matrix(Type type, std::int64_t rows, std::int64_t columns) : type_(type), rows_(rows), columns_(columns) {
    elements_.resize(static_cast<std::size_t>(rows * columns));
  }
  Type type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Complex& operator()(std::int64_t i, std::int64_t j) { return elements_[static_cast<std::size_t>(i + j * rows_)]; }
  const Complex& operator()(std::int64_t i, std::int64_t j) const {
    return elements_[static_cast<std::size_t>(i + j * rows_)];
  }

 private:
  Type type_;
  std::int64_t rows_, columns_;
  std::vector<Complex> elements_;
};

Matrix random_matrix(Random& random, Type type, Kind kind, std::int64_t rows, std::int64_t columns);
Matrix applied(vernier_op op, const Matrix& x);  // op(x)

// On which device memory is: the functions of it, in a build without CUDA none.
struct Device {
  static void* allocate(std::size_t bytes);
  static void free(void* data);
  static void send(void* to, const void* from, std::size_t bytes);
  static void fetch(void* to, const void* from, std::size_t bytes);  // after all streams
};

// Memory as the library sees it: count matrices side by side, ld = rows + pad, a few elements behind an aligned
// address.
class Block {
 public:
  Block(const std::vector<Matrix>& matrices, std::int64_t pad, std::int64_t shift, bool on_gpu);
  std::int64_t ld() const { return ld_; }
  std::int64_t stride() const { return ld_ * columns_; }  // from a matrix to the next
  void* data() const;
  void fetch();
  void put(const Matrix& x);  // the first matrix anew
  Complex at(std::int64_t i, std::int64_t j, std::int64_t matrix = 0) const;
  bool is_unchanged() const { return bytes_ == before_; }
  bool is_unchanged_outside() const;  // of the matrices
  bool is_unchanged_where(const std::function<bool(std::int64_t, std::int64_t)>& chosen) const;
  Complex before(std::int64_t i, std::int64_t j, std::int64_t matrix = 0) const;
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::size_t place(std::int64_t i, std::int64_t j, std::int64_t matrix) const;

  Type type_;
  std::int64_t rows_, columns_, count_, ld_, shift_;
  std::vector<std::byte> bytes_, before_;
  std::shared_ptr<void> device_;
};

}  // namespace vernier::sequences
