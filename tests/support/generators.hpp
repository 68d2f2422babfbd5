// Operands of many kinds, by name: what an ordinary user has, and what an adversary would bring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/matrix.hpp"
#include "support/random.hpp"

namespace vernier::test {

template <class T>
Matrix<T> scattered_matrix(std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed) {
  Random random(seed);
  return Matrix<T>::of(rows, columns, [&](auto, auto) { return random.scattered(phi); });
}

// Some share of the elements is not zero.
template <class T>
Matrix<T> sparse_matrix(std::int64_t rows, std::int64_t columns, double share, std::uint64_t seed) {
  Random random(seed);
  return Matrix<T>::of(
      rows, columns, [&](auto, auto) { return random.uniform() < share ? static_cast<T>(random.scattered(1)) : T{0}; });
}

template <class T>
Matrix<T> exp_rand_matrix(std::int64_t rows, std::int64_t columns, int least, int most, std::uint64_t seed) {
  Random random(seed);
  return Matrix<T>::of(rows, columns, [&](auto, auto) { return random.exp_rand(least, most); });
}

template <class T>
Matrix<T> integer_matrix(std::int64_t rows, std::int64_t columns, std::int64_t most, std::uint64_t seed) {
  Random random(seed);
  return Matrix<T>::of(rows, columns, [&](auto, auto) { return random.integer(-most, most); });
}

// op(A) and op(B).
template <class T>
struct Operands {
  Matrix<T> a, b;
};

// Families whose exponents every scheme must hold without falling back: up to 60 bits of spread that A and B lose
// against each other, and any spread between rows or between columns.
const std::vector<std::string>& operand_families();

// Throws std::out_of_range on an unknown name.
template <class T>
Operands<T> make_operands(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k,
                          std::uint64_t seed);

// Row-wise a_il = 2^g_l x, b_lj = 2^-g_l y with g_l from -half_span to half_span: every term has the size of x y, and
// all of them count, although A and B span 2 * half_span bits each.
template <class T>
Operands<T> graded_inner_index(std::int64_t m, std::int64_t n, std::int64_t k, int half_span, std::uint64_t seed);

}  // namespace vernier::test
