// The routines of quad.hpp for a place, their arguments checked before any work: the same for CPUs and GPUs.
#pragma once

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/kept.hpp"
#include "lapack/quad/quad_triangles.hpp"
#include "product/arguments.hpp"

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

template <class T>
void check_factor_contract(const char* routine, const QuadContract& contract) {
  using Kind = QuadContract::Kind;
  constexpr bool is_dd = std::is_same_v<T, dd>;
  require(contract.kind != Kind::exact && !(is_dd && contract.kind == Kind::fp128),
          "{}: contract {}: expected {} or bits(n)", routine, contract.text(), is_dd ? "dd" : "fp128, dd");
}

template <class T>
struct TrsmCall {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  double alpha;
  const T* a;
  std::int64_t lda;
  Placed<T> b;
};

template <class Place, class T = typename Place::Element>
void call_syrk(const Place& place, Uplo uplo, const GemmCall<T, double>& p) {
  constexpr const char* routine = "quad_syrk";
  check_shape(routine, p.opa, p.opa, p.n, p.n, p.k);
  check_leading(routine, "lda", p.lda, p.opa == Op::none ? p.n : p.k);
  check_leading(routine, "ldc", p.ldc, p.n);
  check_pointer(routine, "A", p.alpha != 0 && p.n > 0 && p.k > 0, p.a);
  check_pointer(routine, "C", p.n > 0, p.c);
  place.check(routine);
  const FloatingEnvironment environment;
  const auto kept = place.keep({p.n, p.n, p.c, p.ldc});
  all_or_nothing([&] { QuadRoutines<Place>(place).syrk(uplo, p); }, kept);
}

template <class Place, class T = typename Place::Element>
void call_trsm(const Place& place, const TrsmCall<T>& p) {
  constexpr const char* routine = "quad_trsm";
  const std::int64_t order = p.side == Side::left ? p.b.rows : p.b.columns;
  check_shape(routine, p.op, Op::none, p.b.rows, p.b.columns, 0);
  check_area(routine, order, order);
  check_leading(routine, "lda", p.lda, order);
  check_leading(routine, "ldb", p.b.ld, p.b.rows);
  const bool any = p.b.rows > 0 && p.b.columns > 0;
  check_pointer(routine, "A", any, p.a);
  check_pointer(routine, "B", any, p.b.x);
  place.check(routine);
  const FloatingEnvironment environment;
  const bool transposed = p.op != Op::none, lower = (p.uplo == Uplo::lower) != transposed;
  const auto kept = place.keep(p.b);
  const auto solve = [&] {
    QuadRoutines<Place>(place).trsm(p.side, {p.a, p.lda, lower, transposed, p.diag == Diag::unit}, p.alpha, p.b);
  };
  all_or_nothing(solve, kept);
}

template <class Place, class T = typename Place::Element>
std::int64_t call_getrf(const Place& place, const Placed<T>& a, std::int64_t* pivots) {
  constexpr const char* routine = "quad_getrf";
  check_shape(routine, Op::none, Op::none, a.rows, a.columns, 0);
  check_leading(routine, "lda", a.ld, a.rows);
  check_pointer(routine, "A", a.rows > 0 && a.columns > 0, a.x);
  check_pointer(routine, "pivots", a.rows > 0 && a.columns > 0, pivots);
  place.check(routine);
  const FloatingEnvironment environment;
  const auto kept = place.keep(a);
  const auto factor = [&](std::int64_t* list) { return QuadRoutines<Place>(place).getrf(a, list); };
  return all_or_nothing([&] { return place.with_pivots(std::min(a.rows, a.columns), pivots, factor); }, kept);
}

template <class Place, class T = typename Place::Element>
std::int64_t call_potrf(const Place& place, Uplo uplo, const Placed<T>& a) {
  constexpr const char* routine = "quad_potrf";
  check_shape(routine, Op::none, Op::none, a.rows, a.rows, 0);
  check_leading(routine, "lda", a.ld, a.rows);
  check_pointer(routine, "A", a.rows > 0, a.x);
  place.check(routine);
  const FloatingEnvironment environment;
  const auto kept = place.keep(a);
  return all_or_nothing([&] { return QuadRoutines<Place>(place).potrf(uplo, a); }, kept);
}

template <class Place, class T = typename Place::Element>
std::int64_t call_gesv(const Place& place, const Placed<T>& a, std::int64_t* pivots, const Placed<T>& b) {
  constexpr const char* routine = "quad_gesv";
  check_shape(routine, Op::none, Op::none, a.rows, b.columns, 0);
  check_leading(routine, "lda", a.ld, a.rows);
  check_leading(routine, "ldb", b.ld, a.rows);
  check_pointer(routine, "A", a.rows > 0, a.x);
  check_pointer(routine, "pivots", a.rows > 0, pivots);
  check_pointer(routine, "B", a.rows > 0 && b.columns > 0, b.x);
  place.check(routine);
  const FloatingEnvironment environment;
  const auto factors = place.keep(a);
  const auto vectors = place.keep(b);
  const auto solve = [&](std::int64_t* list) { return QuadRoutines<Place>(place).gesv(a, list, b); };
  return all_or_nothing([&] { return place.with_pivots(a.rows, pivots, solve); }, factors, vectors);
}

}  // namespace vernier
