#include "lapack/verified/interval_products.hpp"

#include <algorithm>
#include <cstddef>

#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {

void check_interval_arguments(const char* routine, Op opa, Op opb, const IntervalShape& p,
                              std::initializer_list<const void*> pointers, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc) {
  check_sizes(routine, opa, opb, {p.m, p.n, p.k}, lda, ldb, ldc);
  const bool a = p.m * p.k > 0, b = p.k * p.n > 0, c = p.m * p.n > 0, any[] = {a, b, c, c, a, b};
  constexpr const char* names[] = {"A", "B", "C", "C's other matrix", "Ahigh", "Bhigh"};
  for (std::size_t i = 0; i < pointers.size(); ++i) check_pointer(routine, names[i], any[i], pointers.begin()[i]);
}

void check_finite_entry(const char* routine, const char* name, double x, std::int64_t i, std::int64_t j) {
  require(std::isfinite(x), "{}: {}({}, {}) = {}: expected finite numbers", routine, name, i, j, x);
}

void check_radius(const char* routine, const char* which, double x, std::int64_t i, std::int64_t j) {
  require(x >= 0 && std::isfinite(x), "{}: radius ({}, {}) of {} is {}: expected a finite number from 0 on", routine, i,
          j, which, x);
}

MidRad by_ends(const char* routine, const char* which, double low, double high, std::int64_t i, std::int64_t j) {
  check_finite_entry(routine, which, low, i, j);
  check_finite_entry(routine, which, high, i, j);
  require(low <= high, "{}: {}({}, {}) = [{}, {}]: expected ends in order", routine, which, i, j, low, high);
  if (low == high) return {low, 0};
  const double mid = low / 2 + high / 2;
  return {mid, std::max(sum_up(high, -mid), sum_up(mid, -low))};
}

std::vector<double> interval_product(const IntervalShape& p, const IntervalOperand& a, const double* x,
                                     const IntervalOperand& b, const double* y, Rounding rounding) {
  std::vector<double> c(static_cast<std::size_t>(p.m * p.n));
  gemm<double>(a.op, b.op, p.m, p.n, p.k, 1, x, a.ld(), y, b.ld(), 0, c.data(), std::max<std::int64_t>(1, p.m),
               exact_products(p.options, rounding));
  return c;
}

std::vector<double> interval_radii(const IntervalShape& p, const IntervalOperand& a, const IntervalOperand& b,
                                   const std::vector<double>& size_a, const std::vector<double>& size_b) {
  std::vector<double> total;
  const auto add = [&](const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> c = interval_product(p, a, x.data(), b, y.data(), Rounding::up);
    for (double& e : c)
      if (std::isnan(e)) e = infinity;  // |B| + Brad overflowed where Arad is 0
    if (total.empty()) {
      total = c;
    } else {
      for (std::size_t e = 0; e < c.size(); ++e) total[e] = sum_up(total[e], c[e]);
    }
  };
  if (!b.rad.empty()) add(size_a, b.rad);
  if (!a.rad.empty()) {
    std::vector<double> size = size_b;
    for (std::size_t e = 0; e < b.rad.size(); ++e) size[e] = sum_up(size[e], b.rad[e]);
    add(a.rad, size);
  }
  return total;
}

void product_by_ends(const IntervalShape& p, const IntervalOperand& a, const IntervalOperand& b, double* low,
                     double* high, std::int64_t ldc) {
  const std::vector<double> down = interval_product(p, a, a.mid.data(), b, b.mid.data(), Rounding::down),
                            up = interval_product(p, a, a.mid.data(), b, b.mid.data(), Rounding::up),
                            rad = interval_radii(p, a, b, magnitudes_of(a.mid), magnitudes_of(b.mid));
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) {
      const auto e = static_cast<std::size_t>(i + j * p.m);
      low[i + j * ldc] = rad.empty() ? down[e] : sum_down(down[e], -rad[e]);
      high[i + j * ldc] = rad.empty() ? up[e] : sum_up(up[e], rad[e]);
    }
}

}  // namespace vernier
