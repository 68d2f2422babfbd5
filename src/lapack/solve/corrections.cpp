#include "lapack/solve/corrections.hpp"

#include <algorithm>

#include "lapack/solve/factors.hpp"

namespace vernier {
namespace {

class HostCorrections final : public Corrections {
 public:
  HostCorrections(const LinearSystem& system, const LuFactors& factors, const RefinementVectors& vectors)
      : system_(system), factors_(factors), v_(vectors) {}

  void first(const Columns& columns) override {
    const std::int64_t n = system_.n;
    for (const std::int64_t c : columns) std::copy_n(v_.b + c * n, n, v_.x + c * n);
    factors_.solve(system_.op, columns, v_.x);
    system_.normwise_residuals(columns, v_.x, v_.b, v_.r);
  }

  void add(const Columns& columns, const std::vector<double>& lengths) override {
    factors_.solve(system_.op, columns, v_.r);
    for (std::size_t q = 0; q < columns.size(); ++q) {
      double* x = v_.x + columns[q] * system_.n;
      const double* d = v_.r + columns[q] * system_.n;
      for (std::int64_t i = 0; i < system_.n; ++i) x[i] += lengths[q] * d[i];
    }
    system_.normwise_residuals(columns, v_.x, v_.b, v_.r);
  }

 private:
  const LinearSystem& system_;
  const LuFactors& factors_;
  RefinementVectors v_;
};

}  // namespace

std::unique_ptr<Corrections> host_corrections(const LinearSystem& system, const LuFactors& factors,
                                              const RefinementVectors& vectors) {
  return std::make_unique<HostCorrections>(system, factors, vectors);
}

}  // namespace vernier
