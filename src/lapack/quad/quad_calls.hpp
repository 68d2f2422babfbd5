// The routines of quad.hpp for a place, their arguments checked before any work: the same for CPUs and GPUs.
#pragma once

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/quad/quad_routines.hpp"
#include "product/arguments.hpp"

namespace vernier {

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
  QuadRoutines<Place>(place).syrk(uplo, p);
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
  const bool transposed = p.op != Op::none;
  QuadRoutines<Place>(place).trsm(
      p.side, {p.a, p.lda, (p.uplo == Uplo::lower) != transposed, transposed, p.diag == Diag::unit}, p.alpha, p.b);
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
  return place.with_pivots(std::min(a.rows, a.columns), pivots,
                           [&](std::int64_t* list) { return QuadRoutines<Place>(place).getrf(a, list); });
}

template <class Place, class T = typename Place::Element>
std::int64_t call_potrf(const Place& place, Uplo uplo, const Placed<T>& a) {
  constexpr const char* routine = "quad_potrf";
  check_shape(routine, Op::none, Op::none, a.rows, a.rows, 0);
  check_leading(routine, "lda", a.ld, a.rows);
  check_pointer(routine, "A", a.rows > 0, a.x);
  place.check(routine);
  const FloatingEnvironment environment;
  return QuadRoutines<Place>(place).potrf(uplo, a);
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
  return place.with_pivots(a.rows, pivots,
                           [&](std::int64_t* list) { return QuadRoutines<Place>(place).gesv(a, list, b); });
}

}  // namespace vernier
