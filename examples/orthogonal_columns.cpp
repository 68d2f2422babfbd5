// Columns that are nearly parallel, made orthogonal by Cholesky factors of A^T A: in double, which loses them where the
// condition is beyond 1e7, and with A^T A in double-double. Prints condition, and max |Q^T Q - I| of both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <vernier/lapack.hpp>
#include <vernier/quad.hpp>

namespace {

using vernier::dd;
using vernier::Op;
constexpr std::int64_t m = 300, n = 24;

// max |Q^T Q - I|, from products that are rounded once; infinite where a factorisation failed.
double loss(std::int64_t info, const std::vector<double>& q) {
  if (info != 0) return INFINITY;
  std::vector<double> g(n * n);
  vernier::gemm<double>(Op::transpose, Op::none, n, n, m, 1, q.data(), m, q.data(), m, 0, g.data(), n,
                        {.contract = vernier::Contract::exact()});
  double most = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(g[i + j * n] - (i == j)));
  return most;
}

double by_double(std::vector<double> a) {
  std::vector<double> g(n * n);
  vernier::gemm<double>(Op::transpose, Op::none, n, n, m, 1, a.data(), m, a.data(), m, 0, g.data(), n);
  const std::int64_t info = vernier::potrf<double>(vernier::Uplo::upper, n, g.data(), n);
  vernier::trsm<double>(vernier::Side::right, vernier::Uplo::upper, Op::none, vernier::Diag::non_unit, m, n, 1,
                        g.data(), n, a.data(), m);
  return loss(info, a);
}

double by_double_double(const std::vector<double>& a) {
  std::vector<dd> g(n * n), x(a.begin(), a.end());
  vernier::quad_gemm(Op::transpose, Op::none, n, n, m, 1, a.data(), m, a.data(), m, 0, g.data(), n);
  const std::int64_t info = vernier::quad_potrf(vernier::Uplo::upper, n, g.data(), n);
  if (info == 0)
    vernier::quad_trsm(vernier::Side::right, vernier::Uplo::upper, Op::none, vernier::Diag::non_unit, m, n, 1, g.data(),
                       n, x.data(), m);
  std::vector<double> q;
  for (const dd& e : x) q.push_back(e.hi);
  return loss(info, q);
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> common(m), own(m * n);
  for (double& e : common) e = normal(random);
  for (double& e : own) e = normal(random);
  bool kept = true;
  std::puts("# condition; max |Q^T Q - I| by double, by double-double");
  for (double condition = 10; condition < 2e14; condition *= 10) {
    std::vector<double> a(m * n);  // one direction, and a small share of each column's own
    for (std::int64_t e = 0; e < m * n; ++e) a[e] = common[e % m] + own[e] * std::sqrt(n) / condition;
    const double wide = by_double_double(a);
    std::printf("%.0e %.1e %.1e\n", condition, by_double(a), wide);
    kept = kept && wide < 1e-15 + 1e-31 * condition * condition;
  }
  return kept ? 0 : 1;
}
