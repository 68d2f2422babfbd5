// Triangles of diagonal blocks, in one thread.
#include "base/instantiate.hpp"
#include "blas/level3/triangle.hpp"
#include "lapack/complex_arithmetic.hpp"
#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

// Column by column of X, or of X^T: x_p is final once all that it depends on has been taken off.
template <class T>
void solve_in_order(const Triangle& t, std::int64_t order, std::int64_t others, const T* a, std::int64_t lda, T* b,
                    std::int64_t step, std::int64_t other_step) {
  // From the right it is op(A)^T that acts on the rows of X.
  const bool transposed = (t.op != Op::none) == (t.side == Side::left);
  const bool forward = (t.uplo == Uplo::lower) != transposed;
  const auto element = [&](std::int64_t i, std::int64_t j) {
    const T x = transposed ? a[j + i * lda] : a[i + j * lda];
    return t.op == Op::conjugate_transpose ? conjugate(x) : x;
  };
  for (std::int64_t q = 0; q < order; ++q) {
    const std::int64_t p = forward ? q : order - 1 - q;
    T* x = b + p * step;
    if (t.diag == Diag::non_unit) {
      const Divisor<T> diagonal(element(p, p));
      for (std::int64_t j = 0; j < others; ++j) x[j * other_step] = diagonal.divide(x[j * other_step]);
    }
    for (std::int64_t i = forward ? p + 1 : 0; i < (forward ? order : p); ++i) {
      const T factor = element(i, p);
      T* y = b + i * step;
      for (std::int64_t j = 0; j < others; ++j) y[j * other_step] -= times(factor, x[j * other_step]);
    }
  }
}

// x conj(y), or conj(x) y.
template <class T>
T product_of(bool second, T x, T y) {
  return second ? times(x, conjugate(y)) : times(conjugate(x), y);
}

}  // namespace

template <class T>
void solve_small_triangle(Triangle t, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
                          std::int64_t ldb, bool own) {
  if (!own && fits_native({m, n, lda, ldb}))
    return native_triangular<T>(
        {{t.op, Op::none, m, n, 0, T{1}, a, lda, nullptr, 1, T{0}, b, ldb}, "trsm", true, t.side, t.uplo, t.diag});
  const bool left = t.side == Side::left;
  solve_in_order(t, left ? m : n, left ? n : m, a, lda, b, left ? 1 : ldb, left ? ldb : 1);
}

template <class T>
void solve_small_unit_lower(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b, std::int64_t ldb) {
  if (m <= widest_panel) {
    factor_kernels<T>().unit_lower(m, n, a, lda, b, ldb);
    return;
  }
  const std::int64_t h = (m / 2 + widest_panel - 1) / widest_panel * widest_panel;
  solve_small_unit_lower(h, n, a, lda, b, ldb);
  native_gemm<T>({Op::none, Op::none, m - h, n, h, T{-1}, a + h, lda, b, ldb, T{1}, b + h, ldb}, 0);
  solve_small_unit_lower(m - h, n, a + h + h * lda, lda, b + h, ldb);
}

template <class T>
void subtract_small_square(Uplo uplo, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c,
                           std::int64_t ldc, bool own) {
  const bool lower = uplo == Uplo::lower;
  if (!own && fits_native({n, k, lda, ldc})) {
    const Op op = lower ? Op::none : is_complex<T> ? Op::conjugate_transpose : Op::transpose;
    return native_update<T>(
        {{op, op, n, n, k, T{-1}, a, lda, a, lda, T{1}, c, ldc}, "syrk", is_complex<T>, false, false, uplo});
  }
  const std::int64_t row = lower ? 1 : lda, along = lower ? lda : 1;
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i)
        c[i + j * ldc] -= product_of(lower, a[i * row + l * along], a[j * row + l * along]);
}

VERNIER_TYPE_INSTANCES(solve_small_triangle, solve_small_unit_lower, subtract_small_square)

}  // namespace vernier
