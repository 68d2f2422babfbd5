// Factorisations and triangles in dd and binary128: diagonal blocks element by element, all else by quad_gemm.
#include <algorithm>
#include <vector>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "engine/int8_engine.hpp"
#include "lapack/kept.hpp"
#include "lapack/quad/quad_elements.hpp"
#include "product/arguments.hpp"
#include "product/call.hpp"

namespace vernier {
namespace {

constexpr std::int64_t block = 48;  // of a panel
constexpr std::int64_t syrk_block = 256;

template <class T>
void check(const char* routine, const QuadOptions& options) {
  using Kind = QuadContract::Kind;
  constexpr bool is_dd = std::is_same_v<T, dd>;
  require(options.contract.kind != Kind::exact && !(is_dd && options.contract.kind == Kind::fp128),
          "{}: contract {}: expected {} or bits(n)", routine, options.contract.text(), is_dd ? "dd" : "fp128, dd");
  static_cast<void>(find_int8_engine(options.engine));
  const T* const none = nullptr;  // a product of no size checks the other options
  quad_gemm(Op::none, Op::none, 0, 0, 0, 1, none, 1, none, 1, 0, static_cast<T*>(nullptr), 1, options);
}

// C -= op(A) op(B), where there is something to multiply.
template <class T>
void subtract(const GemmCall<T, double>& p, const QuadOptions& options) {
  if (!p.shape().empty()) quad_gemm(p.opa, p.opb, p.m, p.n, p.k, -1, p.a, p.lda, p.b, p.ldb, 1, p.c, p.ldc, options);
}

// One triangle of op(A), as its solves read it.
template <class T>
struct Triangle {
  const T* a;
  std::int64_t lda;
  bool lower, transposed, unit;

  const T* element(std::int64_t i, std::int64_t l) const { return transposed ? a + l + i * lda : a + i + l * lda; }
  Op op() const { return transposed ? Op::transpose : Op::none; }
};

// Rows begin .. end - 1 of X from the same rows of B.
template <class T>
void solve_diagonal(const Triangle<T>& t, std::int64_t begin, std::int64_t end, std::int64_t columns, T* b,
                    std::int64_t ldb, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < columns; ++j) {
    const FloatingEnvironment environment;
    T* x = b + j * ldb;
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t i = t.lower ? s : begin + end - 1 - s;
      T sum = x[i];
      for (std::int64_t l = t.lower ? begin : i + 1; l < (t.lower ? i : end); ++l)
        sum = sum - normalised(*t.element(i, l)) * x[l];
      x[i] = t.unit ? sum : sum / normalised(*t.element(i, i));
    }
  }
}

template <class T>
void solve_left(const Triangle<T>& t, std::int64_t m, std::int64_t n, T* b, std::int64_t ldb,
                const QuadOptions& options) {
  const int threads = usable_threads(options.threads);
  for (std::int64_t done = 0; done < m; done += block) {
    const std::int64_t count = std::min(block, m - done), begin = t.lower ? done : m - done - count,
                       end = begin + count;
    solve_diagonal(t, begin, end, n, b, ldb, threads);
    if (t.lower)
      subtract<T>({.opa = t.op(),
                   .m = m - end,
                   .n = n,
                   .k = count,
                   .a = t.element(end, begin),
                   .lda = t.lda,
                   .b = b + begin,
                   .ldb = ldb,
                   .c = b + end,
                   .ldc = ldb},
                  options);
    else
      subtract<T>({.opa = t.op(),
                   .m = begin,
                   .n = n,
                   .k = count,
                   .a = t.element(0, begin),
                   .lda = t.lda,
                   .b = b + begin,
                   .ldb = ldb,
                   .c = b,
                   .ldc = ldb},
                  options);
  }
}

// Columns first .. first + count - 1 of an LU with partial pivoting; info as LAPACK has it, or 0.
template <class T>
std::int64_t factor_panel(std::int64_t m, std::int64_t first, std::int64_t count, T* a, std::int64_t lda,
                          std::int64_t* pivots) {
  std::int64_t info = 0;
  for (std::int64_t j = first; j < std::min(first + count, m); ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < m; ++i)
      if (magnitude(a[i + j * lda]) > magnitude(a[pivot + j * lda])) pivot = i;
    pivots[j] = pivot + 1;
    if (pivot != j)
      for (std::int64_t l = first; l < first + count; ++l) std::swap(a[j + l * lda], a[pivot + l * lda]);
    const T top = a[j + j * lda];
    if (top == T(0.0)) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < m; ++i) a[i + j * lda] = a[i + j * lda] / top;
    for (std::int64_t l = j + 1; l < first + count; ++l) {
      const T factor = a[j + l * lda];
      for (std::int64_t i = j + 1; i < m; ++i) a[i + l * lda] = a[i + l * lda] - a[i + j * lda] * factor;
    }
  }
  return info;
}

template <class T>
void swap_rows(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last, T* a, std::int64_t lda,
               const std::int64_t* pivots) {
  for (std::int64_t l = begin; l < end; ++l)
    for (std::int64_t j = first; j < last; ++j)
      if (pivots[j] - 1 != j) std::swap(a[j + l * lda], a[pivots[j] - 1 + l * lda]);
}

// Of a lower triangle; info as LAPACK has it.
template <class T>
std::int64_t factor_diagonal(std::int64_t n, T* a, std::int64_t lda, std::int64_t first) {
  for (std::int64_t j = 0; j < n; ++j) {
    T pivot = a[j + j * lda];
    for (std::int64_t l = 0; l < j; ++l) pivot = pivot - a[j + l * lda] * a[j + l * lda];
    if (!positive(pivot)) return first + j + 1;
    a[j + j * lda] = root(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = a[i + j * lda];
      for (std::int64_t l = 0; l < j; ++l) sum = sum - a[i + l * lda] * a[j + l * lda];
      a[i + j * lda] = sum / a[j + j * lda];
    }
  }
  return 0;
}

// Rows from slope j on of each column j.
template <class T>
void normalise(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, std::int64_t slope) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = slope * j; i < m; ++i) a[i + j * lda] = normalised(a[i + j * lda]);
}

template <class T>
std::vector<T> transposed(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t ld) {
  std::vector<T> y(static_cast<std::size_t>(rows * columns));
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) y[static_cast<std::size_t>(j + i * columns)] = x[i + j * ld];
  return y;
}

// The triangle of alpha op(A) op(A)^T + beta C.
template <class T>
void update_triangle(Uplo uplo, const GemmCall<T, double>& p, const QuadOptions& options) {
  const Op other = p.opa == Op::none ? Op::transpose : Op::none;
  const auto rows = [&](std::int64_t i) { return p.opa == Op::none ? p.a + i : p.a + i * p.lda; };
  std::vector<T> diagonal(static_cast<std::size_t>(std::min(p.n, syrk_block) * std::min(p.n, syrk_block)));
  for (std::int64_t j = 0; j < p.n; j += syrk_block) {
    const std::int64_t count = std::min(syrk_block, p.n - j), begin = uplo == Uplo::lower ? j + count : 0,
                       end = uplo == Uplo::lower ? p.n : j;
    quad_gemm(p.opa, other, count, count, p.k, p.alpha, rows(j), p.lda, rows(j), p.lda, 0, diagonal.data(), count,
              options);
    for (std::int64_t l = 0; l < count; ++l)
      for (std::int64_t i = uplo == Uplo::lower ? l : 0; i < (uplo == Uplo::lower ? count : l + 1); ++i) {
        T& c = p.c[j + i + (j + l) * p.ldc];
        const T product = diagonal[static_cast<std::size_t>(i + l * count)];
        c = p.beta == 0 ? product : product + normalised(c) * p.beta;
      }
    quad_gemm(p.opa, other, end - begin, count, p.k, p.alpha, rows(begin), p.lda, rows(j), p.lda, p.beta,
              p.c + begin + j * p.ldc, p.ldc, options);
  }
}

// Arguments of quad_trsm.
template <class T>
struct TriangularSolve {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  std::int64_t m, n;
  double alpha;
  const T* a;
  std::int64_t lda;
  T* b;
  std::int64_t ldb;
};

template <class T>
void solve_triangle(const TriangularSolve<T>& p, const QuadOptions& options) {
  std::vector<T> turned;
  if (p.side == Side::right) turned = transposed(p.m, p.n, p.b, p.ldb);  // X op(A) = B is op(A)^T X^T = B^T
  T* x = p.side == Side::left ? p.b : turned.data();
  const std::int64_t rows = p.side == Side::left ? p.m : p.n, columns = p.side == Side::left ? p.n : p.m,
                     ld = p.side == Side::left ? p.ldb : std::max<std::int64_t>(1, p.n);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      T& e = x[i + j * ld];
      e = p.alpha == 0 ? T(0.0) : p.alpha == 1 ? normalised(e) : normalised(e) * p.alpha;
    }
  const bool transpose = (p.op != Op::none) != (p.side == Side::right);
  const Triangle<T> triangle{p.a, p.lda, (p.uplo == Uplo::lower) != transpose, transpose, p.diag == Diag::unit};
  solve_left(triangle, rows, columns, x, ld, options);
  if (p.side == Side::right)
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t i = 0; i < p.m; ++i) p.b[i + j * p.ldb] = turned[static_cast<std::size_t>(j + i * p.n)];
}

template <class T>
std::int64_t factor_lu(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int64_t* pivots,
                       const QuadOptions& options) {
  normalise(m, n, A, lda, 0);
  const std::int64_t size = std::min(m, n);
  std::int64_t info = 0;
  for (std::int64_t j = 0; j < size; j += block) {
    const std::int64_t count = std::min(block, size - j), end = j + count;
    const std::int64_t found = factor_panel(m, j, count, A, lda, pivots);
    if (info == 0) info = found;
    swap_rows(0, j, j, end, A, lda, pivots);
    swap_rows(end, n, j, end, A, lda, pivots);
    if (end == n) continue;
    solve_left<T>({A + j + j * lda, lda, true, false, true}, count, n - end, A + j + end * lda, lda, options);
    subtract<T>({.m = m - end,
                 .n = n - end,
                 .k = count,
                 .a = A + end + j * lda,
                 .lda = lda,
                 .b = A + j + end * lda,
                 .ldb = lda,
                 .c = A + end + end * lda,
                 .ldc = lda},
                options);
  }
  return info;
}

// The lower triangle.
template <class T>
std::int64_t factor_cholesky(std::int64_t n, T* A, std::int64_t lda, const QuadOptions& options) {
  normalise(n, n, A, lda, 1);
  for (std::int64_t j = 0; j < n; j += block) {
    const std::int64_t count = std::min(block, n - j), end = j + count, rest = n - end;
    if (const std::int64_t info = factor_diagonal(count, A + j + j * lda, lda, j); info != 0) return info;
    if (rest == 0) continue;
    T* const below = A + end + j * lda;
    solve_triangle<T>(
        {Side::right, Uplo::lower, Op::transpose, Diag::non_unit, rest, count, 1, A + j + j * lda, lda, below, lda},
        options);
    update_triangle<T>(Uplo::lower,
                       {Op::none, Op::none, rest, rest, count, -1, below, lda, below, lda, 1, A + end + end * lda, lda},
                       options);
  }
  return 0;
}

}  // namespace

template <class T>
void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const T* A, std::int64_t lda,
               double beta, T* C, std::int64_t ldc, const QuadOptions& options) {
  constexpr const char* routine = "quad_syrk";
  check_shape(routine, op, op, n, n, k);
  check_leading(routine, "lda", lda, op == Op::none ? n : k);
  check_leading(routine, "ldc", ldc, n);
  check_pointer(routine, "A", alpha != 0 && n > 0 && k > 0, A);
  check_pointer(routine, "C", n > 0, C);
  check<T>(routine, options);
  const Kept<T> kept(true, n, n, C, ldc);
  all_or_nothing(
      [&] {
        update_triangle<T>(uplo, {op, op, n, n, k, alpha, A, lda, A, lda, beta, C, ldc}, options);
      },
      kept);
}

template <class T>
void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha, const T* A,
               std::int64_t lda, T* B, std::int64_t ldb, const QuadOptions& options) {
  constexpr const char* routine = "quad_trsm";
  check_shape(routine, op, Op::none, m, n, 0);
  check_area(routine, side == Side::left ? m : n, side == Side::left ? m : n);
  check_leading(routine, "lda", lda, side == Side::left ? m : n);
  check_leading(routine, "ldb", ldb, m);
  check_pointer(routine, "A", m > 0 && n > 0, A);
  check_pointer(routine, "B", m > 0 && n > 0, B);
  check<T>(routine, options);
  const FloatingEnvironment environment;
  const Kept<T> kept(true, m, n, B, ldb);
  all_or_nothing([&] { solve_triangle<T>({side, uplo, op, diag, m, n, alpha, A, lda, B, ldb}, options); }, kept);
}

template <class T>
std::int64_t quad_getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int64_t* pivots,
                        const QuadOptions& options) {
  constexpr const char* routine = "quad_getrf";
  check_shape(routine, Op::none, Op::none, m, n, 0);
  check_leading(routine, "lda", lda, m);
  check_pointer(routine, "A", m > 0 && n > 0, A);
  check_pointer(routine, "pivots", m > 0 && n > 0, pivots);
  check<T>(routine, options);
  const FloatingEnvironment environment;
  const Kept<T> kept(true, m, n, A, lda);
  return all_or_nothing([&] { return factor_lu(m, n, A, lda, pivots, options); }, kept);
}

template <class T>
std::int64_t quad_potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda, const QuadOptions& options) {
  constexpr const char* routine = "quad_potrf";
  check_shape(routine, Op::none, Op::none, n, n, 0);
  check_leading(routine, "lda", lda, n);
  check_pointer(routine, "A", n > 0, A);
  check<T>(routine, options);
  const FloatingEnvironment environment;
  if (uplo == Uplo::upper) {  // A = U^T U: the lower factor of the transpose
    std::vector<T> lower = transposed(n, n, A, lda);
    const std::int64_t info = factor_cholesky(n, lower.data(), std::max<std::int64_t>(1, n), options);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i <= j; ++i) A[i + j * lda] = lower[static_cast<std::size_t>(j + i * n)];
    return info;
  }
  const Kept<T> kept(true, n, n, A, lda);
  return all_or_nothing([&] { return factor_cholesky(n, A, lda, options); }, kept);
}

template <class T>
std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, std::int64_t* pivots, T* B,
                       std::int64_t ldb, const QuadOptions& options) {
  constexpr const char* routine = "quad_gesv";
  check_shape(routine, Op::none, Op::none, n, nrhs, 0);
  check_leading(routine, "lda", lda, n);
  check_leading(routine, "ldb", ldb, n);
  check_pointer(routine, "B", n > 0 && nrhs > 0, B);
  check_pointer(routine, "A", n > 0, A);
  check_pointer(routine, "pivots", n > 0, pivots);
  check<T>(routine, options);
  const FloatingEnvironment environment;
  const Kept<T> factors(true, n, n, A, lda), vectors(true, n, nrhs, B, ldb);
  const auto steps = [&] {
    const std::int64_t info = factor_lu(n, n, A, lda, pivots, options);
    if (info != 0) return info;
    swap_rows(0, nrhs, 0, n, B, ldb, pivots);
    solve_triangle<T>({Side::left, Uplo::lower, Op::none, Diag::unit, n, nrhs, 1, A, lda, B, ldb}, options);
    solve_triangle<T>({Side::left, Uplo::upper, Op::none, Diag::non_unit, n, nrhs, 1, A, lda, B, ldb}, options);
    return info;
  };
  return all_or_nothing(steps, factors, vectors);
}

#define VERNIER_QUAD_FACTORS(T)                                                                                      \
  template void quad_syrk(Uplo, Op, std::int64_t, std::int64_t, double, const T*, std::int64_t, double, T*,          \
                          std::int64_t, const QuadOptions&);                                                         \
  template void quad_trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, double, const T*, std::int64_t, T*,      \
                          std::int64_t, const QuadOptions&);                                                         \
  template std::int64_t quad_getrf(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, const QuadOptions&); \
  template std::int64_t quad_potrf(Uplo, std::int64_t, T*, std::int64_t, const QuadOptions&);                        \
  template std::int64_t quad_gesv(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t,     \
                                  const QuadOptions&);
VERNIER_QUAD_FACTORS(dd)
#if defined(__SIZEOF_FLOAT128__)
VERNIER_QUAD_FACTORS(binary128)
#endif

}  // namespace vernier
