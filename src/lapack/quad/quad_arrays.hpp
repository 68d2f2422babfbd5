// The routines of quad_arrays.hpp for a place: matrices become arrays of dd there, and outputs go back.
#pragma once

#include <algorithm>

#include "product/arguments.hpp"
#include "product/call.hpp"
#include "vernier/quad_arrays.hpp"

namespace vernier {

// What of a matrix goes back.
enum class WrittenPart { all, lower, upper };

struct ArraysShape {
  std::int64_t rows, columns, ld;
  WrittenPart written = WrittenPart::all;

  constexpr std::int64_t first_row(std::int64_t column) const { return written == WrittenPart::lower ? column : 0; }
  constexpr std::int64_t end_row(std::int64_t column) const {
    return written == WrittenPart::upper ? std::min(rows, column + 1) : rows;
  }
};

inline void check_arrays(const char* routine, const char* name, bool read, const ConstDdArrays& x) {
  check_pointer(routine, name, read, x.hi);
  check_pointer(routine, name, read, x.lo);
}

inline std::int64_t packed_ld(std::int64_t rows) { return std::max<std::int64_t>(rows, 1); }

// An output; Place::Packed is memory of dd, whose data() may be null where it is empty.
template <class Place>
class PackedOutput {
 public:
  PackedOutput(const Place& place, const DdArrays& x, const ArraysShape& shape, bool read)
      : place_(place), x_(x), shape_(shape), memory_(place.take(shape.rows * shape.columns)) {
    if (read) place.pack(x, shape, memory_.data());
  }
  dd* data() const { return memory_.data(); }
  void store() const { place_.unpack(memory_.data(), shape_, x_); }

 private:
  const Place& place_;
  const DdArrays x_;
  const ArraysShape shape_;
  typename Place::Packed memory_;
};

template <class Place>
class PackedInput {
 public:
  PackedInput(const Place& place, const ConstDdArrays& x, const ArraysShape& shape)
      : memory_(place.take(shape.rows * shape.columns)) {
    place.pack(x, shape, memory_.data());
  }
  const dd* data() const { return memory_.data(); }

 private:
  typename Place::Packed memory_;
};

// Each checks its arguments, and hands arrays of dd without gaps to `call`.
template <class Place>
class ArrayRoutines {
 public:
  using Product = GemmCall<dd, double, ConstDdArrays, DdArrays>;

  explicit ArrayRoutines(const QuadOptions& options) : place_(options) {}

  template <class Call>  // (A, lda, B, ldb, C)
  QuadReport gemm(const Product& p, const Call& call) const {
    constexpr const char* routine = "quad_gemm";
    check_call(routine, p);
    const bool any = p.m > 0 && p.n > 0, reads = any && p.k > 0 && p.alpha != 0;
    check_arrays(routine, "A", reads, p.a);
    check_arrays(routine, "B", reads, p.b);
    check_arrays(routine, "C", any, p.c);
    place_.check();
    const ArraysShape a = shape_of(p.opa, p.m, p.k, p.lda), b = shape_of(p.opb, p.k, p.n, p.ldb);
    const PackedInput<Place> x(place_, p.a, reads ? a : ArraysShape{}), y(place_, p.b, reads ? b : ArraysShape{});
    const PackedOutput<Place> z(place_, p.c, {p.m, p.n, p.ldc}, p.beta != 0);
    const QuadReport report = call(x.data(), packed_ld(a.rows), y.data(), packed_ld(b.rows), z.data());
    z.store();
    return report;
  }
  template <class Call>  // (A, lda, C)
  void syrk(Uplo uplo, const Product& p, const Call& call) const {
    constexpr const char* routine = "quad_syrk";
    const ArraysShape a = shape_of(p.opa, p.n, p.k, p.lda);
    check_shape(routine, p.opa, p.opa, p.n, p.n, p.k);
    check_leading(routine, "lda", a.ld, a.rows);
    check_leading(routine, "ldc", p.ldc, p.n);
    const bool reads = p.n > 0 && p.k > 0 && p.alpha != 0;
    check_arrays(routine, "A", reads, p.a);
    check_arrays(routine, "C", p.n > 0, p.c);
    place_.check();
    const PackedInput<Place> x(place_, p.a, reads ? a : ArraysShape{});
    const PackedOutput<Place> z(place_, p.c, {p.n, p.n, p.ldc, part_of(uplo)}, true);
    call(x.data(), packed_ld(a.rows), z.data());
    z.store();
  }
  template <class Call>  // (A, lda, B)
  void trsm(Side side, Op op, const ConstDdArrays& a, std::int64_t lda, const DdArrays& b, const ArraysShape& shape,
            const Call& call) const {
    constexpr const char* routine = "quad_trsm";
    const std::int64_t order = side == Side::left ? shape.rows : shape.columns;
    check_shape(routine, op, Op::none, shape.rows, shape.columns, 0);
    check_area(routine, order, order);
    check_leading(routine, "lda", lda, order);
    check_leading(routine, "ldb", shape.ld, shape.rows);
    const bool any = shape.rows > 0 && shape.columns > 0;
    check_arrays(routine, "A", any, a);
    check_arrays(routine, "B", any, b);
    place_.check();
    const PackedInput<Place> x(place_, a, any ? ArraysShape{order, order, lda} : ArraysShape{});
    const PackedOutput<Place> y(place_, b, shape, true);
    call(x.data(), packed_ld(order), y.data());
    y.store();
  }
  template <class Call>  // (A), which has what is returned
  std::int64_t factors(const char* routine, const DdArrays& a, const ArraysShape& shape, const Call& call) const {
    check_shape(routine, Op::none, Op::none, shape.rows, shape.columns, 0);
    check_leading(routine, "lda", shape.ld, shape.rows);
    check_arrays(routine, "A", shape.rows > 0 && shape.columns > 0, a);
    place_.check();
    const PackedOutput<Place> x(place_, a, shape, true);
    const std::int64_t info = call(x.data());
    x.store();
    return info;
  }
  template <class Call>  // (A, B)
  std::int64_t gesv(const DdArrays& a, std::int64_t lda, const DdArrays& b, const ArraysShape& shape,
                    const Call& call) const {
    constexpr const char* routine = "quad_gesv";
    const std::int64_t n = shape.rows;
    check_shape(routine, Op::none, Op::none, n, shape.columns, 0);
    check_leading(routine, "lda", lda, n);
    check_leading(routine, "ldb", shape.ld, n);
    check_arrays(routine, "A", n > 0, a);
    check_arrays(routine, "B", n > 0 && shape.columns > 0, b);
    place_.check();
    const PackedOutput<Place> x(place_, a, {n, n, lda}, true), y(place_, b, shape, true);
    const std::int64_t info = call(x.data(), y.data());
    x.store();
    y.store();
    return info;
  }

  static WrittenPart part_of(Uplo uplo) { return uplo == Uplo::lower ? WrittenPart::lower : WrittenPart::upper; }

 private:
  static ArraysShape shape_of(Op op, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    return op == Op::none ? ArraysShape{rows, columns, ld} : ArraysShape{columns, rows, ld};
  }

  const Place place_;
};

}  // namespace vernier

// The routines of a place, in its namespace.
#define VERNIER_DEFINE_QUAD_ARRAYS(Place, space)                                                                       \
  QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,                   \
                       const ConstDdArrays& A, std::int64_t lda, const ConstDdArrays& B, std::int64_t ldb,             \
                       double beta, const DdArrays& C, std::int64_t ldc, const QuadOptions& options) {                 \
    const auto call = [&](const dd* a, std::int64_t a_ld, const dd* b, std::int64_t b_ld, dd* c) {                     \
      return space::quad_gemm(opa, opb, m, n, k, alpha, a, a_ld, b, b_ld, beta, c, packed_ld(m), options);             \
    };                                                                                                                 \
    return ArrayRoutines<Place>(options).gemm({opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, call);         \
  }                                                                                                                    \
  void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const ConstDdArrays& A,               \
                 std::int64_t lda, double beta, const DdArrays& C, std::int64_t ldc, const QuadOptions& options) {     \
    const auto call = [&](const dd* a, std::int64_t a_ld, dd* c) {                                                     \
      space::quad_syrk(uplo, op, n, k, alpha, a, a_ld, beta, c, packed_ld(n), options);                                \
    };                                                                                                                 \
    ArrayRoutines<Place>(options).syrk(uplo, {op, op, n, n, k, alpha, A, lda, A, lda, beta, C, ldc}, call);            \
  }                                                                                                                    \
  void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha,                 \
                 const ConstDdArrays& A, std::int64_t lda, const DdArrays& B, std::int64_t ldb,                        \
                 const QuadOptions& options) {                                                                         \
    const auto call = [&](const dd* a, std::int64_t a_ld, dd* b) {                                                     \
      space::quad_trsm(side, uplo, op, diag, m, n, alpha, a, a_ld, b, packed_ld(m), options);                          \
    };                                                                                                                 \
    ArrayRoutines<Place>(options).trsm(side, op, A, lda, B, {m, n, ldb}, call);                                        \
  }                                                                                                                    \
  std::int64_t quad_getrf(std::int64_t m, std::int64_t n, const DdArrays& A, std::int64_t lda, std::int64_t* pivots,   \
                          const QuadOptions& options) {                                                                \
    const auto call = [&](dd* a) { return space::quad_getrf(m, n, a, packed_ld(m), pivots, options); };                \
    return ArrayRoutines<Place>(options).factors("quad_getrf", A, {m, n, lda}, call);                                  \
  }                                                                                                                    \
  std::int64_t quad_potrf(Uplo uplo, std::int64_t n, const DdArrays& A, std::int64_t lda,                              \
                          const QuadOptions& options) {                                                                \
    const auto call = [&](dd* a) { return space::quad_potrf(uplo, n, a, packed_ld(n), options); };                     \
    const ArraysShape shape{n, n, lda, ArrayRoutines<Place>::part_of(uplo)};                                           \
    return ArrayRoutines<Place>(options).factors("quad_potrf", A, shape, call);                                        \
  }                                                                                                                    \
  std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, const DdArrays& A, std::int64_t lda, std::int64_t* pivots, \
                         const DdArrays& B, std::int64_t ldb, const QuadOptions& options) {                            \
    const auto call = [&](dd* a, dd* b) {                                                                              \
      return space::quad_gesv(n, nrhs, a, packed_ld(n), pivots, b, packed_ld(n), options);                             \
    };                                                                                                                 \
    return ArrayRoutines<Place>(options).gesv(A, lda, B, {n, nrhs, ldb}, call);                                        \
  }
