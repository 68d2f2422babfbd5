// LU with partial pivoting, recursive over the columns (Toledo 1997): half of all operations are in products as large
// as half the matrix, three quarters in those of a quarter and more. Matrix engines ask for such long sums.
#include "lapack/lu/getrf.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "engine/panel.hpp"
#include "lapack/arguments.hpp"
#include "lapack/kept.hpp"
#include "lapack/kernels.hpp"
#include "lapack/offloaded.hpp"
#include "product/native/native.hpp"

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

std::int64_t factor_lu_ahead(const Options& options, std::int64_t n, double* a, std::int64_t lda,
                             std::int64_t* pivots) {
  const auto level3 = Level3<double>::of_one_thread(options);
  // All wait for the first panel; wide ones let products run faster, and more columns be ready at once.
  constexpr std::int64_t of_first = 32, fewest = 96, most = 192, shares = 10;
  const std::int64_t width = std::clamp(round_up(n / shares, std::int64_t{32}), fewest, most);
  std::vector<std::int64_t> edges = {0};
  while (edges.back() < n) edges.push_back(std::min(n, edges.back() + (edges.size() == 1 ? of_first : width)));
  const std::size_t count = edges.size() - 1;
  std::int64_t info = 0;
  std::mutex mutex;  // of these three
  std::size_t factored = 0;
  std::vector<std::size_t> updates(count);
  std::vector<bool> taken(count);
  const NativeThreads one(1);
  const int threads = std::min(usable_threads(options.threads), static_cast<int>(count));
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    for (std::size_t j = 0, p = 0;; j == count ? std::this_thread::yield() : void()) {
      {
        const std::lock_guard lock(mutex);
        if (factored == count) break;
        j = factored;  // the next panel's columns first
        while (j < count && (taken[j] || (updates[j] == factored && j != factored))) ++j;
        if (j == count) continue;
        taken[j] = true, p = updates[j];
      }
      const std::int64_t begin = edges[p], end = edges[p + 1], columns = edges[j + 1] - edges[j];
      double *const column = a + edges[j] * lda, *const panel = a + begin * lda;
      if (p == j) {  // all panels before have updated it
        const std::int64_t zero = factor_lu(level3, n - begin, columns, column + begin, lda, pivots + begin);
        if (zero != 0 && info == 0) info = zero + begin;
        for (std::int64_t i = begin; i < end; ++i) pivots[i] += begin;
      } else {
        swap_rows(1, columns, column, lda, begin, end, pivots, SwapOrder::forward);
        level3.solve(left_unit_lower, end - begin, columns, panel + begin, lda, column + begin, lda);
        level3.subtract_product({Op::none, Op::none, n - end, columns, end - begin, -1, panel + end, lda,
                                 column + begin, lda, 1, column + end, lda});
      }
      const std::lock_guard lock(mutex);
      taken[j] = false, ++(p == j ? factored : updates[j]);
    }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (std::size_t j = 0; j < count; ++j)
      swap_rows(1, edges[j + 1] - edges[j], a + edges[j] * lda, lda, edges[j + 1], n, pivots, SwapOrder::forward);
  }
  return info;
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
