// Factorisations in dd and binary128, wherever the matrices lie: panels on the host, all else by products there.
#pragma once

#include "lapack/quad/quad_triangles.hpp"

namespace vernier {

template <class Place>
class QuadRoutines : public QuadTriangles<Place> {
 public:
  using Triangles = QuadTriangles<Place>;
  using T = typename Place::Element;
  using Triangles::Triangles, Triangles::syrk, Triangles::trsm;

  std::int64_t getrf(const Placed<T>& a, std::int64_t* pivots) const {
    place_.normalise(a, 0);
    const std::int64_t size = std::min(a.rows, a.columns);
    std::int64_t info = 0;
    for (std::int64_t j = 0; j < size; j += quad_block) {
      const std::int64_t count = std::min(quad_block, size - j), end = j + count, rest = a.columns - end;
      const Placed<T> panel{a.rows - j, count, a.x + j + j * a.ld, a.ld};
      place_.host(panel, Access::edit, [&](T* x, std::int64_t ld) {
        const std::int64_t found = factor_panel(panel.rows, count, x, ld, j, pivots + j);
        if (info == 0) info = found;
      });
      place_.swap_rows({a.rows, j, a.x, a.ld}, j, end, pivots);
      place_.swap_rows({a.rows, rest, a.x + end * a.ld, a.ld}, j, end, pivots);
      if (rest == 0) continue;
      T* const right = a.x + j + end * a.ld;
      solve_left({panel.x, a.ld, true, false, true}, {count, rest, right, a.ld});
      subtract({.m = a.rows - end,
                .n = rest,
                .k = count,
                .a = panel.x + count,
                .lda = a.ld,
                .b = right,
                .ldb = a.ld,
                .c = right + count,
                .ldc = a.ld});
    }
    return info;
  }

  std::int64_t potrf(Uplo uplo, const Placed<T>& a) const {
    const std::int64_t n = a.rows;
    if (uplo == Uplo::upper) return potrf_of_upper(a);
    place_.normalise(a, 1);
    for (std::int64_t j = 0; j < n; j += quad_block) {
      const std::int64_t count = std::min(quad_block, n - j), end = j + count, rest = n - end;
      T* const top = a.x + j + j * a.ld;
      std::int64_t info = 0;
      place_.host({count, count, top, a.ld}, Access::edit,
                  [&](T* x, std::int64_t ld) { info = factor_diagonal(count, x, ld, j); });
      if (info != 0) return info;
      if (rest == 0) continue;
      T *const below = top + count, *const corner = a.x + end + end * a.ld;
      trsm(Side::right, {top, a.ld, false, true, false}, 1, {rest, count, below, a.ld});
      syrk(Uplo::lower, {.opa = Op::none,
                         .opb = Op::transpose,
                         .m = rest,
                         .n = rest,
                         .k = count,
                         .alpha = -1,
                         .a = below,
                         .lda = a.ld,
                         .b = below,
                         .ldb = a.ld,
                         .beta = 1,
                         .c = corner,
                         .ldc = a.ld});
    }
    return 0;
  }

  std::int64_t gesv(const Placed<T>& a, std::int64_t* pivots, const Placed<T>& b) const {
    const std::int64_t info = getrf(a, pivots);
    if (info != 0) return info;
    place_.swap_rows(b, 0, a.rows, pivots);
    trsm(Side::left, {a.x, a.ld, true, false, true}, 1, b);
    trsm(Side::left, {a.x, a.ld, false, false, false}, 1, b);
    return 0;
  }

 private:
  using Triangles::place_, Triangles::solve_left, Triangles::subtract;

  // A = U^T U: the lower factor of the transpose.
  std::int64_t potrf_of_upper(const Placed<T>& a) const {
    const std::int64_t n = a.rows;
    if (n == 0) return 0;
    const auto memory = place_.take(n * n);
    const Placed<T> lower{n, n, memory.data(), std::max<std::int64_t>(1, n)};
    place_.transpose(a, lower, false);
    const std::int64_t info = potrf(Uplo::lower, lower);
    place_.transpose(lower, a, true);
    return info;
  }
};

}  // namespace vernier
