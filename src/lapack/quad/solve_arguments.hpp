// The arguments of quad_solve, checked before any work: the same for CPUs and GPUs.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/status.hpp"
#include "product/arguments.hpp"
#include "vernier/quad.hpp"

namespace vernier {

struct QuadSystem {
  std::int64_t n, nrhs;
  const void* A;
  std::int64_t lda;
  const void* B;
  std::int64_t ldb;
  const dd* X;
  std::int64_t ldx;
};

inline void check_quad_solve(const QuadSystem& s) {
  constexpr const char* routine = "quad_solve";
  check_dimension(routine, "n", s.n);
  check_dimension(routine, "nrhs", s.nrhs);
  check_area(routine, s.n, std::max(s.n, s.nrhs));
  check_leading(routine, "lda", s.lda, s.n);
  check_leading(routine, "ldb", s.ldb, s.n);
  check_leading(routine, "ldx", s.ldx, s.n);
  check_pointer(routine, "A", s.n > 0, s.A);
  check_pointer(routine, "B", s.n > 0 && s.nrhs > 0, s.B);
  check_pointer(routine, "X", s.n > 0 && s.nrhs > 0, s.X);
}

inline double leading(double x) { return x; }
inline double leading(const dd& x) { return x.hi + x.lo; }

template <class T>
void check_finite(const char* name, std::int64_t rows, std::int64_t columns, const T* x, std::int64_t ld) {
  for (std::int64_t j = 0; j < (rows > 0 ? columns : 0); ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      require(std::isfinite(leading(x[i + j * ld])), "quad_solve: {}({}, {}) = {}: expected finite numbers", name, i, j,
              leading(x[i + j * ld]));
}

}  // namespace vernier
