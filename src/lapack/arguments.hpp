// Checks of arguments that LAPACK has beside those of the BLAS (product/arguments.hpp, blas/level3/triangle.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "blas/level3/triangle.hpp"
#include "product/arguments.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

inline void check_uplo(const char* routine, Uplo uplo) {
  require(uplo == Uplo::upper || uplo == Uplo::lower, "{}: uplo = {}: expected upper or lower", routine,
          static_cast<int>(uplo));
}

// A and the pivots of its rows.
inline void check_factors(const char* routine, std::int64_t m, std::int64_t n, const void* A, std::int64_t lda,
                          const std::int64_t* pivots) {
  check_dimension(routine, "m", m);
  check_dimension(routine, "n", n);
  check_area(routine, m, n);
  check_pointer(routine, "A", m > 0 && n > 0, A);
  check_leading(routine, "lda", lda, m);
  check_pointer(routine, "pivots", m > 0 && n > 0, pivots);
}

// op(A) X = B as a routine was asked for it; without X, which then takes the place of B.
template <class T>
struct SystemCall {
  Op op = Op::none;
  std::int64_t n = 0, nrhs = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T* x = nullptr;
  std::int64_t ldx = 0;

  bool empty() const { return n <= 0 || nrhs <= 0; }
};

// n and nrhs, A, the pivots of a routine that has them, and B; reads: A and the pivots are looked at.
template <class T>
void check_system(const char* routine, const SystemCall<T>& s, bool reads,
                  std::optional<const std::int64_t*> pivots = {}) {
  check_dimension(routine, "n", s.n);
  check_dimension(routine, "nrhs", s.nrhs);
  check_area(routine, s.n, std::max(s.n, s.nrhs));
  check_pointer(routine, "A", reads, s.a);
  check_leading(routine, "lda", s.lda, s.n);
  if (pivots) check_pointer(routine, "pivots", reads, *pivots);
  check_pointer(routine, "B", !s.empty(), s.b);
  check_leading(routine, "ldb", s.ldb, s.n);
}

// The same where A is symmetric, and a triangle of it is stored.
template <class T>
void check_definite(const char* routine, Uplo uplo, const SystemCall<T>& s, bool reads) {
  check_uplo(routine, uplo);
  check_system(routine, s, reads);
}

// Pivots that getrf could have written: a foreign value would have rows exchanged with what lies outside of B.
inline void check_pivots(const char* routine, std::int64_t n, const std::int64_t* pivots) {
  for (std::int64_t i = 0; i < n; ++i)
    require(pivots[i] > i && pivots[i] <= n, "{}: pivots[{}] = {}: expected {} to {}", routine, i, pivots[i], i + 1, n);
}

}  // namespace vernier
