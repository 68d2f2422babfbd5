#include "reproduce/data.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace vernier::reproduce {

Matrix<float> exp_rand_matrix(std::int64_t rows, std::int64_t columns, int least, int most, std::uint64_t seed) {
  Random random(seed);
  Matrix<float> x(rows, columns);
  for (float& e : x.data) {
    const double significand = (random.bits() >> 63 != 0 ? -1 : 1) * (1 + random.uniform());
    const auto narrow = static_cast<float>(std::ldexp(significand, random.integer(least, most)));
    e = std::abs(narrow) < std::ldexp(1.0F, most + 1) ? narrow : std::nextafter(narrow, 0.0F);
  }
  return x;
}

namespace {

std::vector<double> normal_vector(std::int64_t n, Random& random) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) x = random.normal();
  return v;
}

double dot(const double* x, const double* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// A := A - 2 / (v . v) x y^T.
void subtract(Matrix<double>& a, const std::vector<double>& x, const std::vector<double>& y, double norm) {
#pragma omp parallel for
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const double factor = 2 / norm * y[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) -= factor * x[static_cast<std::size_t>(i)];
  }
}

// A (I - 2 v v^T / v . v) after (I - 2 u u^T / u . u) A.
void reflect(Matrix<double>& a, Random& random) {
  const std::int64_t n = a.rows;
  const std::vector<double> u = normal_vector(n, random), v = normal_vector(n, random);
  std::vector<double> product(static_cast<std::size_t>(n));
#pragma omp parallel for
  for (std::int64_t j = 0; j < n; ++j) product[static_cast<std::size_t>(j)] = dot(u.data(), &a(0, j), n);
  subtract(a, u, product, dot(u.data(), u.data(), n));
  std::fill(product.begin(), product.end(), 0.0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      product[static_cast<std::size_t>(i)] += a(i, j) * v[static_cast<std::size_t>(j)];
  subtract(a, product, v, dot(v.data(), v.data(), n));
}

}  // namespace

Matrix<double> conditioned_matrix(std::int64_t n, Spectrum spectrum, double kappa, std::uint64_t seed) {
  Random random(seed);
  Matrix<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double geometric = std::pow(kappa, -static_cast<double>(i) / static_cast<double>(n - 1));
    a(i, i) = spectrum == Spectrum::geometric ? geometric : i + 1 < n ? 1 : 1 / kappa;
  }
  for (int r = 0; r < 16; ++r) reflect(a, random);
  return a;
}

Matrix<float> conventional_product(const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<float> c(a.rows, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j)
    for (std::int64_t l = 0; l < a.columns; ++l)
      for (std::int64_t i = 0; i < a.rows; ++i) c(i, j) = std::fma(a(i, l), b(l, j), c(i, j));
  return c;
}

double residual(const Matrix<float>& a, const Matrix<float>& b, const Matrix<float>& c) {
  double error = 0, norm = 0;
  std::vector<double> sums(static_cast<std::size_t>(c.rows));
  for (std::int64_t j = 0; j < c.columns; ++j) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t l = 0; l < a.columns; ++l)
      for (std::int64_t i = 0; i < a.rows; ++i) sums[static_cast<std::size_t>(i)] += double{a(i, l)} * double{b(l, j)};
    for (std::int64_t i = 0; i < c.rows; ++i) {
      const double sum = sums[static_cast<std::size_t>(i)], difference = c(i, j) - sum;
      error += difference * difference;
      norm += sum * sum;
    }
  }
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::sqrt(error / norm);
}

namespace {

class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value, bits); }
  ~Real() { mpfr_clear(value); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_t value;
};

// The sums of these experiments span fewer bits than this, so that nothing is rounded before the end.
constexpr mpfr_prec_t sum_bits = 2200;

template <class T>
T exact_entry(const Matrix<T>& a, const Matrix<T>& b, std::int64_t i, std::int64_t j) {
  Real sum(sum_bits), x(53), product(106);
  mpfr_set_zero(sum.value, 1);
  for (std::int64_t l = 0; l < a.columns; ++l) {
    mpfr_set_d(x.value, a(i, l), MPFR_RNDN);
    mpfr_mul_d(product.value, x.value, b(l, j), MPFR_RNDN);
    mpfr_add(sum.value, sum.value, product.value, MPFR_RNDN);
  }
  if constexpr (sizeof(T) == 4) return mpfr_get_flt(sum.value, MPFR_RNDN);
  return static_cast<T>(mpfr_get_d(sum.value, MPFR_RNDN));
}

template <class T>
bool equal(const Matrix<T>& a, const Matrix<T>& b) {
  return a.data.size() == b.data.size() && std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0;
}

}  // namespace

template <class T>
RoundedSample<T>::RoundedSample(const Matrix<T>& a, const Matrix<T>& b, std::int64_t samples, std::uint64_t seed) {
  const std::int64_t m = a.rows, all = m * b.columns;
  entries_.resize(static_cast<std::size_t>(std::min(samples, all)));
  Random random(seed);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const auto index = all <= samples ? static_cast<std::int64_t>(e)
                                      : static_cast<std::int64_t>(random.bits() % static_cast<std::uint64_t>(all));
    entries_[e] = {index % m, index / m, T{}};
  }
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 8)
    for (Entry& e : entries_) e.value = exact_entry(a, b, e.i, e.j);
    mpfr_free_cache();
  }
}

template <class T>
double RoundedSample<T>::largest_relative_error(const Matrix<T>& c) const {
  double largest = 0;
  for (const Entry& e : entries_) {
    const double exact = e.value, error = std::abs(c(e.i, e.j) - exact);
    if (error != 0) largest = std::max(largest, error / std::abs(exact));
  }
  return largest;
}

template class RoundedSample<float>;
template class RoundedSample<double>;

bool same_bits(const Matrix<double>& a, const Matrix<double>& b) { return equal(a, b); }
bool same_bits(const Matrix<float>& a, const Matrix<float>& b) { return equal(a, b); }

}  // namespace vernier::reproduce
