// Products of interval matrices, real ones.

#include "base/environment.hpp"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/regularity_proof.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {
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
  if (m == 0 || n == 0) return;
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
  check_interval_arguments("interval_gemm_ends", opa, opb, p, {Alow, Blow, Clow, Chigh, Ahigh, Bhigh}, lda, ldb, ldc);
  if (m == 0 || n == 0) return;
  const FloatingEnvironment environment;
  const IntervalOperand a = operand_by_ends("A", opa, stored_rows(opa, m, k), stored_rows(opa, k, m), Alow, Ahigh, lda),
                        b = operand_by_ends("B", opb, stored_rows(opb, k, n), stored_rows(opb, n, k), Blow, Bhigh, ldb);
  product_by_ends(p, a, b, Clow, Chigh, ldc);
}

}  // namespace vernier
