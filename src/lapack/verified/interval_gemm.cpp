#include <algorithm>
#include <vector>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"
#include "vernier/verified.hpp"

namespace vernier {
namespace {

// An operand with its radii, each as a matrix with the operand's own rows and columns.
struct IntervalOperand {
  std::int64_t rows, columns;
  std::vector<double> mid, rad;  // rad: empty if all are zero
  Op op;
};

void check_finite(const char* routine, const char* name, double x, std::int64_t i, std::int64_t j) {
  require(std::isfinite(x), "{}: {}({}, {}) = {}: expected finite numbers", routine, name, i, j, x);
}

IntervalOperand by_radius(const char* which, Op op, std::int64_t rows, std::int64_t columns, const double* mid,
                          const double* rad, std::int64_t ld) {
  IntervalOperand x{rows, columns, {}, {}, op};
  x.mid.reserve(static_cast<std::size_t>(rows * columns));
  bool any = false;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      check_finite("interval_gemm", which, mid[i + j * ld], i, j);
      x.mid.push_back(mid[i + j * ld]);
      if (rad == nullptr) continue;
      const double r = rad[i + j * ld];
      require(r >= 0 && std::isfinite(r),
              "interval_gemm: radius ({}, {}) of {} is {}: expected a finite number from 0 on", i, j, which, r);
      any = any || r > 0;
    }
  if (!any) return x;
  for (std::int64_t j = 0; j < columns; ++j) x.rad.insert(x.rad.end(), rad + j * ld, rad + j * ld + rows);
  return x;
}

IntervalOperand by_ends(const char* which, Op op, std::int64_t rows, std::int64_t columns, const double* low,
                        const double* high, std::int64_t ld) {
  IntervalOperand x{rows, columns, {}, {}, op};
  bool any = false;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const double a = low[i + j * ld], b = high[i + j * ld];
      check_finite("interval_gemm_ends", which, a, i, j);
      check_finite("interval_gemm_ends", which, b, i, j);
      require(a <= b, "interval_gemm_ends: {}({}, {}) = [{}, {}]: expected ends in order", which, i, j, a, b);
      const double mid = a == b ? a : a / 2 + b / 2;
      x.mid.push_back(mid);
      x.rad.push_back(a == b ? 0 : std::max(sum_up(b, -mid), sum_up(mid, -a)));
      any = any || a < b;
    }
  if (!any) x.rad.clear();
  return x;
}

struct Product {
  std::int64_t m, n, k;
  const Options& options;
};

std::vector<double> product(const Product& p, const IntervalOperand& a, const double* x, const IntervalOperand& b,
                            const double* y, Rounding rounding) {
  std::vector<double> c(static_cast<std::size_t>(p.m * p.n));
  gemm<double>(a.op, b.op, p.m, p.n, p.k, 1, x, std::max<std::int64_t>(1, a.rows), y, std::max<std::int64_t>(1, b.rows),
               0, c.data(), std::max<std::int64_t>(1, p.m), exact_products(p.options, rounding));
  return c;
}

// |A| Brad + Arad (|B| + Brad), rounded up twice; empty where all radii are zero.
std::vector<double> radii(const Product& p, const IntervalOperand& a, const IntervalOperand& b) {
  std::vector<double> total;
  const auto add = [&](const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> c = product(p, a, x.data(), b, y.data(), Rounding::up);
    for (double& e : c)
      if (std::isnan(e)) e = infinity;  // |B| + Brad overflowed where Arad is 0
    if (total.empty()) {
      total = c;
    } else {
      for (std::size_t e = 0; e < c.size(); ++e) total[e] = sum_up(total[e], c[e]);
    }
  };
  if (!b.rad.empty()) {
    std::vector<double> size(a.mid.size());
    std::transform(a.mid.begin(), a.mid.end(), size.begin(), [](double x) { return std::fabs(x); });
    add(size, b.rad);
  }
  if (!a.rad.empty()) {
    std::vector<double> size(b.mid.size());
    for (std::size_t e = 0; e < size.size(); ++e)
      size[e] = b.rad.empty() ? std::fabs(b.mid[e]) : sum_up(std::fabs(b.mid[e]), b.rad[e]);
    add(a.rad, size);
  }
  return total;
}

void check_arguments(const char* routine, Op opa, Op opb, const Product& p, const double* const (&pointers)[4],
                     std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  check_shape(routine, opa, opb, p.m, p.n, p.k);
  check_leading_dimensions(routine, opa, opb, p.m, p.n, p.k, lda, ldb, ldc);
  check_pointer(routine, "A", p.m * p.k > 0, pointers[0]);
  check_pointer(routine, "B", p.k * p.n > 0, pointers[1]);
  check_pointer(routine, "C", p.m * p.n > 0, pointers[2]);
  check_pointer(routine, "C's other matrix", p.m * p.n > 0, pointers[3]);
}

std::int64_t stored_rows(Op op, std::int64_t rows, std::int64_t columns) { return op == Op::none ? rows : columns; }

}  // namespace

void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Amid,
                   const double* Arad, std::int64_t lda, const double* Bmid, const double* Brad, std::int64_t ldb,
                   double* Cmid, double* Crad, std::int64_t ldc, const Options& options) {
  const Product p{m, n, k, options};
  check_arguments("interval_gemm", opa, opb, p, {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  const FloatingEnvironment environment;
  const IntervalOperand a = by_radius("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Amid, Arad, lda),
                        b = by_radius("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Bmid, Brad, ldb);
  const std::vector<double> mid = product(p, a, a.mid.data(), b, b.mid.data(), Rounding::nearest), rad = radii(p, a, b);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto e = static_cast<std::size_t>(i + j * m);
      Cmid[i + j * ldc] = mid[e];
      Crad[i + j * ldc] = std::isinf(mid[e]) ? infinity : sum_up(half_unit(mid[e]), rad.empty() ? 0 : rad[e]);
    }
}

void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Alow,
                        const double* Ahigh, std::int64_t lda, const double* Blow, const double* Bhigh,
                        std::int64_t ldb, double* Clow, double* Chigh, std::int64_t ldc, const Options& options) {
  const Product p{m, n, k, options};
  check_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh}, lda, ldb, ldc);
  check_pointer("interval_gemm_ends", "Ahigh", m * k > 0, Ahigh);
  check_pointer("interval_gemm_ends", "Bhigh", k * n > 0, Bhigh);
  const FloatingEnvironment environment;
  const IntervalOperand a = by_ends("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Alow, Ahigh, lda),
                        b = by_ends("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Blow, Bhigh, ldb);
  const std::vector<double> down = product(p, a, a.mid.data(), b, b.mid.data(), Rounding::down),
                            up = product(p, a, a.mid.data(), b, b.mid.data(), Rounding::up), rad = radii(p, a, b);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto e = static_cast<std::size_t>(i + j * m);
      Clow[i + j * ldc] = rad.empty() ? down[e] : sum_down(down[e], -rad[e]);
      Chigh[i + j * ldc] = rad.empty() ? up[e] : sum_up(up[e], rad[e]);
    }
}

}  // namespace vernier
