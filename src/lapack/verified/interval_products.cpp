#include "lapack/verified/interval_products.hpp"

#include <algorithm>
#include <complex>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/regularity_proof.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {

void check_interval_arguments(const char* routine, Op opa, Op opb, const IntervalShape& p,
                              const void* const (&pointers)[4], std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  check_sizes(routine, opa, opb, {p.m, p.n, p.k}, lda, ldb, ldc);
  check_pointer(routine, "A", p.m * p.k > 0, pointers[0]);
  check_pointer(routine, "B", p.k * p.n > 0, pointers[1]);
  check_pointer(routine, "C", p.m * p.n > 0, pointers[2]);
  check_pointer(routine, "C's other matrix", p.m * p.n > 0, pointers[3]);
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

// Products of interval matrices, real ones.

namespace {

IntervalOperand operand_by_radius(const char* which, Op op, std::int64_t rows, std::int64_t columns, const double* mid,
                                  const double* rad, std::int64_t ld) {
  IntervalOperand x{op, rows, columns, {}};
  x.rad = take_discs(which, rows, columns, rad, ld, [&](std::int64_t place, std::int64_t i, std::int64_t j) {
    check_finite_entry("interval_gemm", which, mid[place], i, j);
    x.mid.push_back(mid[place]);
  });
  return x;
}

IntervalOperand operand_by_ends(const char* which, Op op, std::int64_t rows, std::int64_t columns, const double* low,
                                const double* high, std::int64_t ld) {
  IntervalOperand x{op, rows, columns, {}};
  bool any = false;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const MidRad e = by_ends("interval_gemm_ends", which, low[i + j * ld], high[i + j * ld], i, j);
      x.mid.push_back(e.mid), x.rad.push_back(e.rad);
      any = any || e.rad > 0;
    }
  if (!any) x.rad.clear();
  return x;
}

}  // namespace

void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Amid,
                   const double* Arad, std::int64_t lda, const double* Bmid, const double* Brad, std::int64_t ldb,
                   double* Cmid, double* Crad, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm", opa, opb, p, {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  const FloatingEnvironment environment;
  const IntervalOperand a = operand_by_radius("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Amid, Arad,
                                              lda),
                        b = operand_by_radius("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Bmid, Brad,
                                              ldb);
  const std::vector<double> mid = interval_product(p, a, a.mid.data(), b, b.mid.data(), Rounding::nearest),
                            rad = interval_radii(p, a, b, magnitudes_of(a.mid), magnitudes_of(b.mid));
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
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh}, lda, ldb, ldc);
  check_pointer("interval_gemm_ends", "Ahigh", m * k > 0, Ahigh);
  check_pointer("interval_gemm_ends", "Bhigh", k * n > 0, Bhigh);
  const FloatingEnvironment environment;
  const IntervalOperand a = operand_by_ends("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Alow, Ahigh, lda),
                        b = operand_by_ends("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Blow, Bhigh, ldb);
  product_by_ends(p, a, b, Clow, Chigh, ldc);
}

// Products of complex interval matrices: discs by their centres and radii; rectangles as real matrices of twice the
// size, whose ranges are those of the parts, since no real number stands twice in a part of a product.

namespace {

using Complex = std::complex<double>;

struct DiscOperand {
  IntervalOperand radii;  // op of radii: a transpose where that of centres is conjugate
  std::vector<Complex> mid;
  std::vector<double> size;  // at least |mid|
};

DiscOperand discs(const char* which, Op op, std::int64_t rows, std::int64_t columns, const Complex* mid,
                  const double* rad, std::int64_t ld) {
  DiscOperand x{{op == Op::none ? op : Op::transpose, rows, columns, {}}, {}, {}};
  x.radii.rad = take_discs(which, rows, columns, rad, ld, [&](std::int64_t place, std::int64_t i, std::int64_t j) {
    const Complex z = mid[place];
    check_finite_entry("interval_gemm", which, z.real(), i, j);
    check_finite_entry("interval_gemm", which, z.imag(), i, j);
    x.mid.push_back(z), x.size.push_back(magnitude_above(z.real(), z.imag()));
  });
  return x;
}

// op(X) as a real matrix: [re -im; im re] of A, [re; im] of B.
struct Rectangles {
  const char* which;
  Op op;
  std::int64_t rows, columns;  // of op(X)
  const Complex *low, *high;
  std::int64_t ld;

  IntervalOperand expanded(bool left) const {
    IntervalOperand x{Op::none, 2 * rows, (left ? 2 : 1) * columns, {}};
    x.mid.resize(static_cast<std::size_t>(x.rows * x.columns)), x.rad.resize(x.mid.size());
    for (std::int64_t l = 0; l < columns; ++l)
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t r = op == Op::none ? i : l, c = op == Op::none ? l : i, from = r + c * ld;
        const MidRad re = by_ends("interval_gemm_ends", which, low[from].real(), high[from].real(), r, c);
        MidRad im = by_ends("interval_gemm_ends", which, low[from].imag(), high[from].imag(), r, c);
        if (op == Op::conjugate_transpose) im.mid = -im.mid;
        const auto put = [&](std::int64_t row, std::int64_t column, const MidRad& value) {
          const auto e = static_cast<std::size_t>(row + column * x.rows);
          x.mid[e] = value.mid, x.rad[e] = value.rad;
        };
        const std::int64_t step = left ? 2 : 1;
        put(2 * i, step * l, re), put(2 * i + 1, step * l, im);
        if (left) put(2 * i, 2 * l + 1, {-im.mid, im.rad}), put(2 * i + 1, 2 * l + 1, re);
      }
    if (std::all_of(x.rad.begin(), x.rad.end(), [](double e) { return e == 0; })) x.rad.clear();
    return x;
  }
};

}  // namespace

void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Complex* Amid,
                   const double* Arad, std::int64_t lda, const Complex* Bmid, const double* Brad, std::int64_t ldb,
                   Complex* Cmid, double* Crad, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm", opa, opb, p, {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  const FloatingEnvironment environment;
  const DiscOperand a = discs("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Amid, Arad, lda),
                    b = discs("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Bmid, Brad, ldb);
  std::vector<Complex> mid(static_cast<std::size_t>(m * n));
  gemm<Complex>(opa, opb, m, n, k, 1, a.mid.data(), a.radii.ld(), b.mid.data(), b.radii.ld(), 0, mid.data(),
                std::max<std::int64_t>(1, m), exact_products(options, Rounding::nearest));
  const std::vector<double> rad = interval_radii(p, a.radii, b.radii, a.size, b.size);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto e = static_cast<std::size_t>(i + j * m);
      const bool finite = std::isfinite(mid[e].real()) && std::isfinite(mid[e].imag());
      const double own = finite ? magnitude_above(half_unit(mid[e].real()), half_unit(mid[e].imag())) : infinity;
      Cmid[i + j * ldc] = mid[e], Crad[i + j * ldc] = sum_up(own, rad.empty() ? 0 : rad[e]);
    }
}

void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Complex* Alow,
                        const Complex* Ahigh, std::int64_t lda, const Complex* Blow, const Complex* Bhigh,
                        std::int64_t ldb, Complex* Clow, Complex* Chigh, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh}, lda, ldb, ldc);
  check_pointer("interval_gemm_ends", "Ahigh", m * k > 0, Ahigh);
  check_pointer("interval_gemm_ends", "Bhigh", k * n > 0, Bhigh);
  const FloatingEnvironment environment;
  const IntervalOperand a = Rectangles{"A", opa, m, k, Alow, Ahigh, lda}.expanded(true),
                        b = Rectangles{"B", opb, k, n, Blow, Bhigh, ldb}.expanded(false);
  product_by_ends({2 * m, n, 2 * k, options}, a, b, reinterpret_cast<double*>(Clow), reinterpret_cast<double*>(Chigh),
                  2 * ldc);
}

}  // namespace vernier
