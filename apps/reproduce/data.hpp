// Random matrices and measures of error that the papers use. Matrices are column-major without gaps.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace vernier::reproduce {

// The same numbers on every machine, up to the last bit of exp and log.
class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  std::uint64_t bits() { return generator_(); }
  double uniform() { return std::ldexp(static_cast<double>(generator_() >> 11), -53); }  // [0, 1)
  double uniform(double least, double most) { return least + (most - least) * uniform(); }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
  int integer(int least, int most) { return least + static_cast<int>(uniform() * (most - least + 1)); }

 private:
  std::mt19937_64 generator_;
};

template <class T>
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> data;

  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), data(static_cast<std::size_t>(m * n)) {}
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  T operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + j * rows)]; }
};

template <class T>
Matrix<T> uniform_matrix(std::int64_t rows, std::int64_t columns, double least, double most, std::uint64_t seed) {
  Random random(seed);
  Matrix<T> x(rows, columns);
  for (T& e : x.data) e = static_cast<T>(random.uniform(least, most));
  return x;
}

// (rand - 0.5) exp(phi randn): Mukunoki et al., section 5.1.
template <class T>
Matrix<T> scattered_matrix(std::int64_t rows, std::int64_t columns, double phi, std::uint64_t seed) {
  Random random(seed);
  Matrix<T> x(rows, columns);
  for (T& e : x.data) {
    const double centred = random.uniform() - 0.5;
    e = static_cast<T>(centred * std::exp(phi * random.normal()));
  }
  return x;
}

// exp_rand(least, most) of Ootomo and Yokota, section 4.1: exponent uniform from least to most, random significand.
Matrix<float> exp_rand_matrix(std::int64_t rows, std::int64_t columns, int least, int most, std::uint64_t seed);

// A square matrix with singular values from 1 to 1 / kappa, in geometric steps or all 1 but one, between orthogonal
// factors of 16 random reflections each.
enum class Spectrum { geometric, one_small };
Matrix<double> conditioned_matrix(std::int64_t n, Spectrum spectrum, double kappa, std::uint64_t seed);

// One fused multiply-add after the other, in the order of k, to nearest: a conventional product.
Matrix<float> conventional_product(const Matrix<float>& a, const Matrix<float>& b);

// ||C - C64||_F / ||C64||_F with C64 in fp64: Ootomo and Yokota, equation 6. Infinite where C holds a NaN.
double residual(const Matrix<float>& a, const Matrix<float>& b, const Matrix<float>& c);

// The largest |C - RN(AB)| / |RN(AB)| over sampled entries, RN(AB) being the exact product (MPFR, 2200 bits) rounded to
// T: Mukunoki et al., section 5.2. All entries where there are no more than `samples`.
template <class T>
class RoundedSample {
 public:
  RoundedSample(const Matrix<T>& a, const Matrix<T>& b, std::int64_t samples, std::uint64_t seed);
  double largest_relative_error(const Matrix<T>& c) const;
  std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }

 private:
  struct Entry {
    std::int64_t i, j;
    T value;
  };
  std::vector<Entry> entries_;
};

// Are they the same to the last bit? Signs of zeros count.
bool same_bits(const Matrix<double>& a, const Matrix<double>& b);
bool same_bits(const Matrix<float>& a, const Matrix<float>& b);

}  // namespace vernier::reproduce
