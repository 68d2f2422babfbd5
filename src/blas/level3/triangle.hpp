// Routines with a triangle: what they check, and how a triangle of a product is cut into rectangles. For CPU and GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

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
Report gemm_of(const GemmCall<T>& p, const Options& options) {
  return gemm<T>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options);
}

// C = alpha A B + beta C, or alpha B A + beta C; of A, k x k, a triangle is stored.
template <class T>
struct SymmetricProduct : GemmCall<T> {
  const char* routine;
  bool hermitian;
  Side side;
  Uplo uplo;

  bool reads() const { return this->k > 0 && this->m > 0 && this->n > 0 && this->alpha != T{0}; }
  // By gemm, all of A in `full`; where nothing is read, C = beta C.
  GemmCall<T> filled(const T* full) const {
    GemmCall<T> call = *this;
    call.a = full, call.lda = std::max<std::int64_t>(this->k, 1);
    if (!reads())
      call.k = 0, call.lda = std::max<std::int64_t>(this->m, 1), call.ldb = 1;
    else if (side == Side::right)
      std::swap(call.a, call.b), std::swap(call.lda, call.ldb);
    return call;
  }
};

template <class T>
void check_symmetric(const SymmetricProduct<T>& p) {
  check_sides(p.routine, p.side, p.uplo, p.m, p.n, p.lda, p.ldb, p.ldc);
  check_operands(p.routine, p.reads(), p.m > 0 && p.n > 0, p.a, p.b, p.c);
}

// C = alpha op(A) B, alpha op(A)^-1 B, or these from the right; C may be B.
template <class T>
struct TriangularProduct : GemmCall<T> {
  const char* routine;
  bool solve;
  Side side;
  Uplo uplo;
  Diag diag;

  std::int64_t order() const { return side == Side::left ? this->m : this->n; }
  std::int64_t others() const { return side == Side::left ? this->n : this->m; }
  bool lower() const { return (uplo == Uplo::lower) == (this->opa == Op::none); }  // op(A)
  const T* block(std::int64_t i, std::int64_t j) const {                           // of op(A), in A
    return this->opa == Op::none ? this->a + i + j * this->lda : this->a + j + i * this->lda;
  }
};

template <class T>
void check_triangular(const TriangularProduct<T>& p) {
  check_op(p.routine, p.opa);
  check_choice(p.routine, "diag", p.diag);
  check_sides(p.routine, p.side, p.uplo, p.m, p.n, p.lda, p.ldb, p.ldc);
  const bool writes = p.m > 0 && p.n > 0;
  check_pointer(p.routine, "A", writes && p.alpha != T{0}, p.a);
  check_pointer(p.routine, "B", writes, p.b);
  check_pointer(p.routine, "C", writes, p.c);
}

// Blocks on the diagonal are done in the precision of the type.
template <class T>
bool asks_for_more_than(const Contract& contract) {
  return contract.bits_asked > std::numeric_limits<RealType<T>>::digits;
}

// Level 3 of the BLAS underneath, for every type: sizes and leading dimensions must fit 32 bits.
inline bool fits_native(std::initializer_list<std::int64_t> sizes) {
  return std::max(sizes) <= std::numeric_limits<int>::max();
}

template <class T>
void native_symmetric(const SymmetricProduct<T>& p);
template <class T>
void native_update(const TriangleUpdate<T>& p);
template <class T>
void native_triangular(const TriangularProduct<T>& p);  // in place: C

}  // namespace vernier
