// LU with partial pivoting, recursive over the columns (Toledo 1997): half of all operations are in products as large
// as half the matrix, three quarters in those of a quarter and more. Matrix engines ask for such long sums.
#include "lapack/lu/getrf.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "engine/panel.hpp"
#include "lapack/arguments.hpp"
#include "lapack/kept.hpp"
#include "lapack/kernels.hpp"
#include "lapack/offloaded.hpp"

namespace vernier {
namespace {

constexpr Triangle left_unit_lower = {Side::left, Uplo::lower, Op::none, Diag::unit};

// Columns of the left part: half, in units that the products like.
std::int64_t left_columns(std::int64_t n) {
  const std::int64_t unit = n > 512 ? 128 : n > 128 ? 32 : widest_panel;
  return round_up(std::max<std::int64_t>(n / 2, 1), unit);
}

}  // namespace

template <class T>
std::int64_t factor_lu(const Level3<T>& level3, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                       std::int64_t* pivots) {
  if (m == 0 || n == 0) return 0;
  if (n <= widest_panel) return factor_kernels<T>().panel(m, n, a, lda, pivots);
  const std::int64_t least = std::min(m, n), left = std::min(left_columns(least), least), right = n - left;
  T* a_right = a + left * lda;
  const std::int64_t info = factor_lu(level3, m, left, a, lda, pivots);
  if (right == 0) return info;
  swap_rows(level3.threads(), right, a_right, lda, 0, left, pivots, SwapOrder::forward);
  level3.solve(left_unit_lower, left, right, a, lda, a_right, lda);
  if (m == left) return info;

  T* a_rest = a_right + left;
  level3.subtract_product({Op::none, Op::none, m - left, right, left, -1, a + left, lda, a_right, lda, 1, a_rest, lda});
  const std::int64_t info_right = factor_lu(level3, m - left, right, a_rest, lda, pivots + left);
  for (std::int64_t i = left; i < least; ++i) pivots[i] += left;
  swap_rows(level3.threads(), left, a, lda, left, least, pivots, SwapOrder::forward);
  return info != 0 ? info : info_right != 0 ? info_right + left : 0;
}

template <class T>
void solve_with_lu(const Level3<T>& level3, Op op, const LuInPlace<T>& lu, std::int64_t nrhs, T* b, std::int64_t ldb) {
  const Triangle lower = {Side::left, Uplo::lower, op, Diag::unit},
                 upper = {Side::left, Uplo::upper, op, Diag::non_unit};
  if (op == Op::none) {
    swap_rows(level3.threads(), nrhs, b, ldb, 0, lu.n, lu.pivots, SwapOrder::forward);
    level3.solve(lower, lu.n, nrhs, lu.a, lu.lda, b, ldb);
    level3.solve(upper, lu.n, nrhs, lu.a, lu.lda, b, ldb);
  } else {
    level3.solve(upper, lu.n, nrhs, lu.a, lu.lda, b, ldb);
    level3.solve(lower, lu.n, nrhs, lu.a, lu.lda, b, ldb);
    swap_rows(level3.threads(), nrhs, b, ldb, 0, lu.n, lu.pivots, SwapOrder::backward);
  }
}

template <class T>
std::int64_t getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int64_t* pivots,
                   const Options& options) {
  check_factors("getrf", m, n, A, lda, pivots);
  const Level3<T> level3(options);
  if (const auto info = offloaded_getrf(m, n, A, lda, pivots, options)) return *info;
  const FloatingEnvironment environment;
  const Kept<T> kept(level3.may_fail(), m, n, A, lda);
  return all_or_nothing([&] { return factor_lu(level3, m, n, A, lda, pivots); }, kept);
}

template <class T>
void getrs(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const std::int64_t* pivots, T* B,
           std::int64_t ldb, const Options& options) {
  check_op("getrs", op);
  const bool works = n > 0 && nrhs > 0;
  check_system<T>("getrs", {op, n, nrhs, A, lda, B, ldb}, works, pivots);
  const Level3<T> level3(options);
  const FloatingEnvironment environment;
  if (!works) return;
  check_pivots("getrs", n, pivots);
  const Kept<T> kept(level3.may_fail(), n, nrhs, B, ldb);
  all_or_nothing([&] { solve_with_lu(level3, op, {n, A, lda, pivots}, nrhs, B, ldb); }, kept);
}

template <class T>
std::int64_t gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, std::int64_t* pivots, T* B,
                  std::int64_t ldb, const Options& options) {
  check_system<T>("gesv", {Op::none, n, nrhs, A, lda, B, ldb}, n > 0, pivots);
  const Level3<T> level3(options);
  const FloatingEnvironment environment;
  const Kept<T> kept_a(level3.may_fail(), n, n, A, lda), kept_b(level3.may_fail(), n, nrhs, B, ldb);
  const auto solve = [&] {
    const auto offloaded = offloaded_getrf(n, n, A, lda, pivots, options);
    const std::int64_t info = offloaded ? *offloaded : factor_lu(level3, n, n, A, lda, pivots);
    if (info == 0 && n > 0 && nrhs > 0) solve_with_lu(level3, Op::none, {n, A, lda, pivots}, nrhs, B, ldb);
    return info;
  };
  return all_or_nothing(solve, kept_a, kept_b);
}

VERNIER_TYPE_INSTANCES(factor_lu, solve_with_lu, getrf, getrs, gesv)

}  // namespace vernier
