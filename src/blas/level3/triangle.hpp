// Routines with a triangle: what they check, and how a triangle of a product is cut into rectangles. For CPU and GPU.
#pragma once

#include <limits>

#include "blas/level3/routine.hpp"
#include "number/complex.hpp"
#include "product/call.hpp"

namespace vernier {

// How a triangle of a product is halved: squares of up to `whole` stay whole, halves are multiples of `step`. Where a
// cut lies shows in the last bits, since rows and columns that meet share the choice of their scales.
struct TriangleCut {
  std::int64_t whole, step;

  std::int64_t middle(std::int64_t begin, std::int64_t end) const {
    return begin + ((end - begin) / 2 + step - 1) / step * step;
  }
};

// For reproducible contracts everywhere, and on few threads of a CPU. For n = 2048 the squares add 1/16 to the work.
inline constexpr TriangleCut common_cut{256, 64};

// rectangle(i0, i1, j0, j1) for squares on the diagonal and rectangles beside it that together cover the triangle.
template <class Rectangle>
void cut_triangle(Uplo uplo, const TriangleCut& cut, std::int64_t begin, std::int64_t end, const Rectangle& rectangle) {
  if (end - begin <= cut.whole) return rectangle(begin, end, begin, end);
  const std::int64_t middle = cut.middle(begin, end);
  cut_triangle(uplo, cut, begin, middle, rectangle);
  cut_triangle(uplo, cut, middle, end, rectangle);
  if (uplo == Uplo::lower)
    rectangle(middle, end, begin, middle);
  else
    rectangle(begin, middle, middle, end);
}

inline Op transposed(Op op, bool hermitian) {
  return op != Op::none ? Op::none : hermitian ? Op::conjugate_transpose : Op::transpose;
}

inline void check_op(const char* routine, Op op) {
  require(valid(op), "{}: op = {}: expected none, transpose or conjugate_transpose", routine, static_cast<int>(op));
}

// The op of a rank-k or rank-2k update: none or the transposition that belongs to it; of real matrices either.
template <class T>
Op checked_op(const char* routine, Op op, bool hermitian) {
  check_op(routine, op);
  if constexpr (is_complex<T>)
    require(op == Op::none || op == transposed(Op::none, hermitian), "{}: op = {}: expected none or {}", routine,
            static_cast<char>(op), hermitian ? "conjugate_transpose" : "transpose");
  return op == Op::none ? op : transposed(Op::none, hermitian);
}

// Of one triangle of a C that is n x n, by op(A) op(B); where op(B) is the transpose of op(A), op is that of A.
template <class T>
struct TriangleUpdate : GemmCall<T> {
  const char* routine;
  bool hermitian, both;  // both: A B^T and B A^T
  bool of_two;           // B is not A
  Uplo uplo;

  bool reads() const { return this->n > 0 && this->k > 0 && this->alpha != T{0}; }
  // The product of rows [i0, i1) and columns [j0, j1), with C in `out`, n x n.
  GemmCall<T> rectangle(std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1, T* out) const {
    GemmCall<T> part = *this;
    part.m = i1 - i0, part.n = j1 - j0;
    part.a += this->opa == Op::none ? i0 : i0 * this->lda;
    part.b += this->opb == Op::none ? j0 * this->ldb : j0;
    part.alpha = T{1}, part.beta = T{0};
    part.c = out + i0 + j0 * this->n;
    part.ldc = this->n;
    return part;
  }
};

// What the routine reads and writes, where alpha and the sizes leave it something to do.
template <class T>
void check_operands(const char* routine, bool reads, bool writes, const T* A, const T* B, const T* C) {
  check_operands(routine, reads, A, B);
  check_pointer(routine, "C", writes, C);
}

// Of an m x n product with a triangle on one side.
inline void check_sides(const char* routine, Side side, Uplo uplo, std::int64_t m, std::int64_t n, std::int64_t lda,
                        std::int64_t ldb, std::int64_t ldc) {
  check_choice(routine, "side", side);
  check_choice(routine, "uplo", uplo);
  check_dimension(routine, "m", m);
  check_dimension(routine, "n", n);
  check_area(routine, m, n);
  check_area(routine, side == Side::left ? m : n, side == Side::left ? m : n);
  check_leading(routine, "lda", lda, side == Side::left ? m : n);
  check_leading(routine, "ldb", ldb, m);
  check_leading(routine, "ldc", ldc, m);
}

template <class T>
void check_symmetric(const char* routine, Side side, Uplo uplo, std::int64_t m, std::int64_t n, T alpha, const T* A,
                     std::int64_t lda, const T* B, std::int64_t ldb, const T* C, std::int64_t ldc) {
  check_sides(routine, side, uplo, m, n, lda, ldb, ldc);
  const bool writes = m > 0 && n > 0;
  check_operands(routine, writes && alpha != T{0}, writes, A, B, C);
}

// trmm and trsm; in place B is C.
template <class T>
void check_triangular(const char* routine, Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n,
                      T alpha, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, const T* C,
                      std::int64_t ldc) {
  check_op(routine, op);
  check_choice(routine, "diag", diag);
  check_sides(routine, side, uplo, m, n, lda, ldb, ldc);
  const bool writes = m > 0 && n > 0;
  check_pointer(routine, "A", writes && alpha != T{0}, A);
  check_pointer(routine, "B", writes, B);
  check_pointer(routine, "C", writes, C);
}

// Blocks on the diagonal are done in the precision of the type.
template <class T>
bool asks_for_more_than(const Contract& contract) {
  return contract.bits_asked > std::numeric_limits<RealType<T>>::digits;
}

}  // namespace vernier
