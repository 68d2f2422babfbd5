// Kernels around the products of interval matrices: an element a thread. The same bits as interval_products.cpp's.
#pragma once

#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/upward.hpp"

namespace vernier::cuda {

// size: at least |mid|; grown: at least |mid| + rad. Complex: mid has pairs, ld of pairs.
template <bool Complex>
__global__ void __launch_bounds__(interval_threads)
    measure_discs(std::int64_t rows, std::int64_t columns, Elements<const double> mid, Elements<const double> rad,
                  double* size, double* grown, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double* const z = mid.data + (Complex ? 2 : 1) * (e.i + e.j * mid.ld);
  const double x = z[0], y = Complex ? z[1] : 0, r = rad.data == nullptr ? 0 : rad.at(e.i, e.j);
  if (!finite(x) || !finite(y) || !(r >= 0) || !finite(r))
    atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
  if (r > 0) facts->wide = 1;
  size[e.at] = magnitude_above(x, y);
  grown[e.at] = sum_up(size[e.at], r);
}

__global__ void __launch_bounds__(interval_threads)
    check_ends(std::int64_t rows, std::int64_t columns, Elements<const double> low, Elements<const double> high,
               IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double a = low.at(e.i, e.j), b = high.at(e.i, e.j);
  if (!finite(a) || !finite(b) || a > b) atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
  if (a < b) facts->wide = 1;
}

// Ends in either order: those of -x are not turned round.
__global__ void __launch_bounds__(interval_threads)
    discs_of_ends(std::int64_t rows, std::int64_t columns, Elements<const double> low, Elements<const double> high,
                  double* mid, double* rad, double* size, double* grown) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double x = low.at(e.i, e.j), y = high.at(e.i, e.j), a = ::fmin(x, y), b = ::fmax(x, y);
  const double m = a == b ? x : a / 2 + b / 2;
  mid[e.at] = m;
  rad[e.at] = a == b ? 0 : ::fmax(sum_up(b, -m), sum_up(m, -a));
  size[e.at] = ::fabs(m);
  grown[e.at] = sum_up(::fabs(m), rad[e.at]);
}

// The sum of up to two products of nonnegative matrices that were rounded up.
struct RadiusTerms {
  const double *first = nullptr, *second = nullptr;

  __device__ double sum(std::int64_t at) const {
    const auto term = [&](const double* x) { return x == nullptr ? 0 : x[at] != x[at] ? infinity : x[at]; };
    return second == nullptr ? term(first) : first == nullptr ? term(second) : sum_up(term(first), term(second));
  }
};

// mid: rounded to nearest, without gaps; of complex numbers the parts in turn.
template <bool Complex>
__global__ void __launch_bounds__(interval_threads)
    finish_discs(std::int64_t rows, std::int64_t columns, const double* mid, RadiusTerms terms, Elements<double> c,
                 Elements<double> rad) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  if constexpr (Complex) {
    const double x = mid[2 * e.at], y = mid[2 * e.at + 1];
    double* const z = c.data + 2 * (e.i + e.j * c.ld);
    z[0] = x, z[1] = y;
    const double own = finite(x) && finite(y) ? magnitude_above(half_unit(x), half_unit(y)) : infinity;
    rad.at(e.i, e.j) = sum_up(own, terms.sum(e.at));
  } else {
    const double x = mid[e.at];
    c.at(e.i, e.j) = x;
    rad.at(e.i, e.j) = ::fabs(x) == infinity ? infinity : sum_up(half_unit(x), terms.sum(e.at));
  }
}

__global__ void __launch_bounds__(interval_threads)
    finish_ends(std::int64_t rows, std::int64_t columns, const double* down, const double* up, RadiusTerms terms,
                Elements<double> low, Elements<double> high) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const bool wide = terms.first != nullptr || terms.second != nullptr;
  const double spread = wide ? terms.sum(e.at) : 0;
  low.at(e.i, e.j) = wide ? sum_down(down[e.at], -spread) : down[e.at];
  high.at(e.i, e.j) = wide ? sum_up(up[e.at], spread) : up[e.at];
}

}  // namespace vernier::cuda
