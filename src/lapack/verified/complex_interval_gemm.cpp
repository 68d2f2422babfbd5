// Products of complex interval matrices: discs by their centres and radii; rectangles as real matrices of twice the
// size, whose ranges are those of the parts, since no real number stands twice in a part of a product.
#include <algorithm>
#include <complex>

#include "base/environment.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {
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
  if (m == 0 || n == 0) return;
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
  check_interval_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh, Ahigh, Bhigh}, lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const FloatingEnvironment environment;
  const IntervalOperand a = Rectangles{"A", opa, m, k, Alow, Ahigh, lda}.expanded(true),
                        b = Rectangles{"B", opb, k, n, Blow, Bhigh, ldb}.expanded(false);
  product_by_ends({2 * m, n, 2 * k, options}, a, b, reinterpret_cast<double*>(Clow), reinterpret_cast<double*>(Chigh),
                  2 * ldc);
}

}  // namespace vernier
