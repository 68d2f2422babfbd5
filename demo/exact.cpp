#include "exact.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>

namespace demo {
namespace {

class Real {
 public:
  Real() {
    mpfr_init2(value_, 320);
    mpfr_set_zero(value_, 1);
  }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// |T_ij - (AB)_ij| / (|A||B|)_ij
double entry_error(vernier::Op opa, const Matrix& A, const Matrix& B, std::int64_t i, std::int64_t j, double t) {
  Real sum, factor;
  double magnitude = 0;
  for (std::int64_t l = 0; l < B.rows; ++l) {
    const double a = opa == vernier::Op::none ? A(i, l) : A(l, i), b = B(l, j);
    if (a == 0 || b == 0) continue;
    mpfr_set_d(factor.get(), a, MPFR_RNDN);
    mpfr_mul_d(factor.get(), factor.get(), b, MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), factor.get(), MPFR_RNDN);
    magnitude += std::abs(a * b);
  }
  mpfr_sub_d(sum.get(), sum.get(), t, MPFR_RNDN);
  const double difference = std::abs(mpfr_get_d(sum.get(), MPFR_RNDN));
  return difference == 0 ? 0.0 : difference / magnitude;
}

}  // namespace

SampledError sampled_error(vernier::Op opa, const Matrix& A, const Matrix& B, const Matrix& T) {
  const std::int64_t rows = std::min<std::int64_t>(sampled_lines, T.rows);
  const std::int64_t cols = std::min<std::int64_t>(sampled_lines, T.cols);
  double sum = 0, largest = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : largest)
  for (std::int64_t s = 0; s < rows * cols; ++s) {
    const std::int64_t i = s % rows * T.rows / rows, j = s / rows * T.cols / cols;
    const double error = entry_error(opa, A, B, i, j, T(i, j));
    sum += error;
    largest = std::max(largest, error);
  }
  return {sum / static_cast<double>(rows * cols), largest};
}

}  // namespace demo
