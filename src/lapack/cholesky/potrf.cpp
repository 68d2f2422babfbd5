// Cholesky, recursive like getrf.cpp.
#include <algorithm>
#include <cmath>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "lapack/arguments.hpp"
#include "lapack/complex_arithmetic.hpp"
#include "lapack/kept.hpp"
#include "lapack/level3.hpp"
#include "lapack/offloaded.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

constexpr std::int64_t smallest_recursion = 24;

template <class T>
constexpr Op adjoint = is_complex<T> ? Op::conjugate_transpose : Op::transpose;

// A = L L^H where (row, column) = (1, lda); A = U^H U with the two exchanged.
template <class T>
std::int64_t factor_small(std::int64_t n, T* a, std::int64_t row, std::int64_t column) {
  for (std::int64_t j = 0; j < n; ++j) {
    T* diagonal = a + j * (row + column);
    const RealType<T> square = std::real(*diagonal);
    if (!(square > 0)) return j + 1;  // NaN included
    const RealType<T> root = std::sqrt(square);
    *diagonal = root;
    for (std::int64_t i = j + 1; i < n; ++i) a[i * row + j * column] /= root;
    for (std::int64_t l = j + 1; l < n; ++l) {
      const T factor = conjugate(a[l * row + j * column]);
      for (std::int64_t i = l; i < n; ++i) a[i * row + l * column] -= times(a[i * row + j * column], factor);
    }
  }
  return 0;
}

template <class T>
std::int64_t factor_cholesky(const Level3<T>& level3, Uplo uplo, std::int64_t n, T* a, std::int64_t lda) {
  const bool lower = uplo == Uplo::lower;
  if (n <= smallest_recursion) return lower ? factor_small(n, a, 1, lda) : factor_small(n, a, lda, 1);
  const std::int64_t h = n < 128 ? n / 2 : (n / 2 + 31) / 32 * 32, r = n - h;
  if (const std::int64_t info = factor_cholesky(level3, uplo, h, a, lda); info != 0) return info;
  T *off_diagonal = lower ? a + h : a + h * lda, *rest = a + h + h * lda;
  if (lower)
    level3.solve({Side::right, Uplo::lower, adjoint<T>, Diag::non_unit}, r, h, a, lda, off_diagonal, lda);
  else
    level3.solve({Side::left, Uplo::upper, adjoint<T>, Diag::non_unit}, h, r, a, lda, off_diagonal, lda);
  level3.subtract_square(uplo, r, h, off_diagonal, lda, rest, lda);
  const std::int64_t info = factor_cholesky(level3, uplo, r, rest, lda);
  return info == 0 ? 0 : info + h;
}

template <class T>
void solve_with_cholesky(const Level3<T>& level3, Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* a,
                         std::int64_t lda, T* b, std::int64_t ldb) {
  const bool lower = uplo == Uplo::lower;
  level3.solve({Side::left, uplo, lower ? Op::none : adjoint<T>, Diag::non_unit}, n, nrhs, a, lda, b, ldb);
  level3.solve({Side::left, uplo, lower ? adjoint<T> : Op::none, Diag::non_unit}, n, nrhs, a, lda, b, ldb);
}

}  // namespace

template <class T>
std::int64_t potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda, const Options& options) {
  check_definite<T>("potrf", uplo, {Op::none, n, 0, A, lda, nullptr, std::max<std::int64_t>(n, 1)}, n > 0);
  const Level3<T> level3(options);
  if (const auto info = offloaded_potrf(uplo, n, A, lda, options)) return *info;
  const FloatingEnvironment environment;
  const Kept<T> kept(level3.may_fail(), n, n, A, lda);
  return all_or_nothing([&] { return factor_cholesky(level3, uplo, n, A, lda); }, kept);
}

template <class T>
void potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, T* B, std::int64_t ldb,
           const Options& options) {
  check_definite<T>("potrs", uplo, {Op::none, n, nrhs, A, lda, B, ldb}, n > 0 && nrhs > 0);
  const Level3<T> level3(options);
  const FloatingEnvironment environment;
  const Kept<T> kept(level3.may_fail(), n, nrhs, B, ldb);
  all_or_nothing([&] { solve_with_cholesky(level3, uplo, n, nrhs, A, lda, B, ldb); }, kept);
}

template <class T>
std::int64_t posv(Uplo uplo, std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, T* B, std::int64_t ldb,
                  const Options& options) {
  check_definite<T>("posv", uplo, {Op::none, n, nrhs, A, lda, B, ldb}, n > 0);
  const Level3<T> level3(options);
  const FloatingEnvironment environment;
  const Kept<T> kept_a(level3.may_fail(), n, n, A, lda), kept_b(level3.may_fail(), n, nrhs, B, ldb);
  const auto solve = [&] {
    const auto offloaded = offloaded_potrf(uplo, n, A, lda, options);
    const std::int64_t info = offloaded ? *offloaded : factor_cholesky(level3, uplo, n, A, lda);
    if (info == 0) solve_with_cholesky(level3, uplo, n, nrhs, A, lda, B, ldb);
    return info;
  };
  return all_or_nothing(solve, kept_a, kept_b);
}

VERNIER_TYPE_INSTANCES(potrf, potrs, posv)

}  // namespace vernier
