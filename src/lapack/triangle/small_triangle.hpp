// Triangles of diagonal blocks, in one thread.
#pragma once

#include <cstdint>

#include "lapack/level3.hpp"

namespace vernier {

// op(A) X = B or X op(A) = B; B, m x n, becomes X. The BLAS underneath does it, unless `own`: then plain loops in one
// fixed order, with the same bits everywhere.
template <class T>
void solve_small_triangle(Triangle triangle, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
                          std::int64_t ldb, bool own);

// B := L^-1 B, L with ones on its diagonal: what LU asks for most. Halves down to the order of a panel, products by the
// BLAS underneath, whose trsm is slow for small triangles: of order 64 with 2048 right-hand sides it did 21 GFLOP/s on
// two cores.
template <class T>
void solve_small_unit_lower(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b, std::int64_t ldb);

// One triangle of C: lower C -= A A^H, upper C -= A^H A, C n x n.
template <class T>
void subtract_small_square(Uplo uplo, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c,
                           std::int64_t ldc, bool own);

}  // namespace vernier
