// Products of interval matrices: discs by their centres and radii; complex rectangles as real matrices of twice the
// size, whose ranges are those of the parts, since no real number stands twice in a part of a product.
#include <algorithm>
#include <complex>

#include "base/environment.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/upward.hpp"

namespace vernier {
namespace {

using Complex = std::complex<double>;

double size_above(double x) { return std::abs(x); }
double size_above(const Complex& z) { return magnitude_above(z.real(), z.imag()); }

// Of what was rounded to nearest.
double error_above(double x) { return std::isfinite(x) ? half_unit(x) : infinity; }
double error_above(const Complex& z) { return magnitude_above(error_above(z.real()), error_above(z.imag())); }

void drop_zeros(std::vector<double>& radii) {
  if (std::all_of(radii.begin(), radii.end(), [](double e) { return e == 0; })) radii.clear();
}

template <class T>
struct Discs {
  Op op;
  IntervalOperand radii;  // op of radii: a transpose where that of centres is conjugate
  std::vector<T> mid;
  std::vector<double> size;  // at least |mid|
};

// rows, columns: of op(X). rad: null for zeros.
template <class T>
Discs<T> discs(const char* which, Op op, std::int64_t rows, std::int64_t columns, const T* mid, const double* rad,
               std::int64_t ld) {
  const Op turned = op == Op::none ? op : Op::transpose;
  Discs<T> x{op, {turned, stored_rows(op, rows, columns), stored_rows(op, columns, rows), {}}, {}, {}};
  for (std::int64_t j = 0; j < x.radii.columns; ++j)
    for (std::int64_t i = 0; i < x.radii.rows; ++i) {
      const T z = mid[i + j * ld];
      check_finite_entry("interval_gemm", which, std::real(z), i, j);
      check_finite_entry("interval_gemm", which, std::imag(z), i, j);
      x.mid.push_back(z), x.size.push_back(size_above(z));
      if (rad == nullptr) continue;
      const double r = rad[i + j * ld];
      check_radius("interval_gemm", which, r, i, j);
      x.radii.rad.push_back(r);
    }
  drop_zeros(x.radii.rad);
  return x;
}

template <class T>
void multiply(const IntervalShape& p, const Discs<T>& a, const Discs<T>& b, T* Cmid, double* Crad, std::int64_t ldc) {
  std::vector<T> mid(static_cast<std::size_t>(p.m * p.n));
  gemm<T>(a.op, b.op, p.m, p.n, p.k, 1, a.mid.data(), a.radii.ld(), b.mid.data(), b.radii.ld(), 0, mid.data(),
          std::max<std::int64_t>(1, p.m), exact_products(p.options, Rounding::nearest));
  const std::vector<double> rad = interval_radii(p, a.radii, b.radii, a.size, b.size);
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) {
      const auto e = static_cast<std::size_t>(i + j * p.m);
      Cmid[i + j * ldc] = mid[e];
      Crad[i + j * ldc] = sum_up(error_above(mid[e]), rad.empty() ? 0 : rad[e]);
    }
}

IntervalOperand operand_by_ends(const char* which, Op op, std::int64_t rows, std::int64_t columns, const double* low,
                                const double* high, std::int64_t ld) {
  IntervalOperand x{op, stored_rows(op, rows, columns), stored_rows(op, columns, rows), {}};
  for (std::int64_t j = 0; j < x.columns; ++j)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const MidRad e = by_ends("interval_gemm_ends", which, low[i + j * ld], high[i + j * ld], i, j);
      x.mid.push_back(e.mid), x.rad.push_back(e.rad);
    }
  drop_zeros(x.rad);
  return x;
}

// Complex op(X) as a real matrix: [re -im; im re] of A, [re; im] of B.
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
    drop_zeros(x.rad);
    return x;
  }
};

}  // namespace

void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Amid,
                   const double* Arad, std::int64_t lda, const double* Bmid, const double* Brad, std::int64_t ldb,
                   double* Cmid, double* Crad, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm", opa, opb, p, {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const FloatingEnvironment environment;
  multiply(p, discs("A", opa, m, k, Amid, Arad, lda), discs("B", opb, k, n, Bmid, Brad, ldb), Cmid, Crad, ldc);
}

void interval_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Complex* Amid,
                   const double* Arad, std::int64_t lda, const Complex* Bmid, const double* Brad, std::int64_t ldb,
                   Complex* Cmid, double* Crad, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm", opa, opb, p, {Amid, Bmid, Cmid, Crad}, lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const FloatingEnvironment environment;
  multiply(p, discs("A", opa, m, k, Amid, Arad, lda), discs("B", opb, k, n, Bmid, Brad, ldb), Cmid, Crad, ldc);
}

void interval_gemm_ends(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const double* Alow,
                        const double* Ahigh, std::int64_t lda, const double* Blow, const double* Bhigh,
                        std::int64_t ldb, double* Clow, double* Chigh, std::int64_t ldc, const Options& options) {
  const IntervalShape p{m, n, k, options};
  check_interval_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh, Ahigh, Bhigh}, lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const FloatingEnvironment environment;
  product_by_ends(p, operand_by_ends("A", opa, m, k, Alow, Ahigh, lda),
                  operand_by_ends("B", opb, k, n, Blow, Bhigh, ldb), Clow, Chigh, ldc);
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
