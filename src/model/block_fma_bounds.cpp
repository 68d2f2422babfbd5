#include "vernier/block_fma.hpp"

#include <limits>

namespace vernier {
namespace {

double blocks(std::int64_t k, int b) { return static_cast<double>((k + b - 1) / b); }

// Higham (2002), Lemma 3.1, for units of different size.
double all_orders(double t) { return t < 1 ? t / (1 - t) : std::numeric_limits<double>::infinity(); }

}  // namespace

double block_fma_first_order(const BlockFmaUnits& u, std::int64_t k, bool converted) {
  return (converted ? 2 * u.low : 0) + blocks(k, u.b) * u.fma + (u.b - 1) * u.add + u.mul;
}

double block_fma_bound(const BlockFmaUnits& u, std::int64_t k, bool converted) {
  return all_orders(block_fma_first_order(u, k, converted));
}

double block_lu_bound(const BlockFmaUnits& u, std::int64_t n, std::int64_t panel, double u_panel, double stored) {
  return all_orders(block_fma_first_order(u, n, true) + static_cast<double>(panel + 2) * u_panel + 2 * stored);
}

double block_fma_table(FmaKind kind, std::int64_t k, int b, double u_low, double u_high) {
  const auto length = static_cast<double>(k);
  const double sums = length / b;
  switch (kind) {
    case FmaKind::standard_low:
      return length * u_low;
    case FmaKind::low_low:
      return (sums + b) * u_low;
    case FmaKind::low_high:
      return sums * u_low + b * u_high;
    case FmaKind::low_exact:
      return sums * u_low;
    case FmaKind::high_low:
      return (b + 2) * u_low + sums * u_high;
    case FmaKind::high_high:
      return 2 * u_low + (sums + b) * u_high;
    case FmaKind::high_exact:
      return 2 * u_low + sums * u_high;
    case FmaKind::standard_high:
      return length * u_high;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace vernier
