// Refinement with factors that are hardly those of the system.
#include "lapack/solve/refinement.hpp"

#include <gtest/gtest.h>

#include "systems.hpp"

namespace vernier::test::refinement_test {
namespace {

// Factors of the system with an error in every entry, the last pivot 2^-30 of itself.
class NearlySingular final : public LuFactors {
 public:
  NearlySingular(const Matrix<double>& a, double error)
      : n_(a.rows()), lu_(padded(a, 0)), pivots_(static_cast<std::size_t>(n_)) {
    const auto noise = scattered_matrix<double>(n_, n_, 0, 7);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i < n_; ++i) lu_(i, j) += error * noise(i, j);
    info = getrf<double>(n_, n_, lu_.data(), n_, pivots_.data());
    lu_(n_ - 1, n_ - 1) *= 0x1p-30;
  }
  double unit_roundoff() const override { return 0x1p-8; }
  void solve(Op op, const Columns& columns, double* x) const override {
    for (const std::int64_t c : columns) getrs<double>(op, n_, 1, lu_.data(), n_, pivots_.data(), x + c * n_, n_);
  }

 private:
  std::int64_t n_;
  Matrix<double> lu_;
  Pivots pivots_;
};

// The first solution is some 2^30 times too large, in the direction of the last pivot. GMRES takes that away with the
// residual, and the backward error, their quotient, stays what it is: no reason to stop. Nor is a run that ends after
// one step, since that direction is all that the factors show of the residual.
TEST(Refinement, GmresGoesOnWhileSolutionAndResidualShrinkTogether) {
  constexpr std::int64_t n = 200;
  constexpr double tolerance = 1e-12;
  for (std::uint64_t draw = 0; draw < 8; ++draw) {
    SCOPED_TRACE(draw);
    const auto a = scattered_matrix<double>(n, n, 0, 5 + 2 * draw), b = scattered_matrix<double>(n, 1, 0, 6 + 2 * draw);
    const auto system = measure_system<double>(Op::none, n, a.data(), n, 1, false);
    const NearlySingular factors(a, 0.1);
    ASSERT_EQ(factors.info, 0);

    std::vector<double> first(b.data(), b.data() + n), residual(first);
    factors.solve(Op::none, {0}, first.data());
    system.residuals({0}, first.data(), b.data(), residual.data());
    EXPECT_GT(largest_magnitude(n, first.data()), 1e5);
    EXPECT_GT(backward_error(system, first.data(), b.data(), residual.data()), 1e-3);

    RefinedColumns columns(n, 1, RefinedColumns::Vectors(b.data(), b.data() + n));
    columns.refine(system, factors, {Refinement::gmres, tolerance, 30, false});
    EXPECT_LE(columns.error(0), tolerance);
    EXPECT_GT(columns.reports()[0].corrections, 1);
  }
}

}  // namespace
}  // namespace vernier::test::refinement_test
