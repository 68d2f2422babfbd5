#include "plan/exact_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

// Ordinary data are planned for one open entry in 2^10: one modulus more makes it 2^14 and adds 5 % to the products,
// one less 2^6, and the second looks then take half as long as the products.
constexpr int ordinary_spare_bits = 10;

// A second look on one core: its vectors from the second-level cache, and what does not depend on k. Measured on a Zen
// 4 (bench/results/).
constexpr double look_seconds_per_k = 0.45e-9, look_seconds = 1.0e-6;

double root_log2(std::int64_t k) { return std::log2(static_cast<double>(std::max<std::int64_t>(k, 1))) / 2; }

// log2(2^x + sqrt(k) / 2): a norm and its rounding to integers.
double with_rounding(double norm_log2, std::int64_t k) {
  return norm_log2 + std::log2(1 + std::exp2(root_log2(k) - 1 - norm_log2));
}

// Share of the entries like this one that the rounding test leaves open: twice the bound of theorem 6 over the distance
// of two neighbours, which is at least 2^-precision of the entry.
double open_share(const ExactEntry& e, int precision, double row_budget, double column_budget) {
  const double row = std::min(row_budget, e.row.exact_log2), column = std::min(column_budget, e.column.exact_log2);
  double relative = 0;
  if (row < e.row.exact_log2) relative += std::exp2(e.column.ratio_log2 - row);
  if (column < e.column.exact_log2) relative += std::exp2(e.row.ratio_log2 - column);
  if (relative == 0) return 0;
  return std::min(1.0, relative * std::exp2(precision - e.cosine_log2));
}

double seconds_of_looks(const ExactQuestion& q, double share) {
  const double m = static_cast<double>(q.shape.m), n = static_cast<double>(q.shape.n),
               k = static_cast<double>(q.shape.k);
  return share * m * n * (look_seconds + k * look_seconds_per_k) / q.threads;
}

}  // namespace

int exact_budget_16(int moduli, std::int64_t k) {
  const double room = log2_product_of_moduli(moduli) - 1 - std::ldexp(1.5, -20) - 1e-8;
  auto budget = static_cast<int>(std::floor(16 * room));
  while (budget > 0 && 2 * with_rounding(budget / 32.0, k) > room) --budget;
  return budget;
}

ExactChoice weigh_exact(const ExactQuestion& q, int moduli) {
  ExactChoice choice{.moduli = moduli};
  const double both = exact_budget_16(moduli, q.shape.k) / 16.0;
  // An operand that needs less than its half leaves the rest to the other.
  double row = std::min(both / 2, q.rows_exact_log2), column = std::min(both - row, q.columns_exact_log2);
  row = std::min(both - column, q.rows_exact_log2);
  // The longer rounding of the other side must fit too.
  const double room = 2 * with_rounding(both / 2, q.shape.k);
  while (with_rounding(row, q.shape.k) + with_rounding(column, q.shape.k) > room)
    (row > column ? row : column) -= 1.0 / 32;
  choice.row_budget_16 = static_cast<int>(std::floor(32 * row));
  choice.column_budget_16 = static_cast<int>(std::floor(32 * column));
  for (const ExactEntry& e : q.sample) choice.undecided += open_share(e, q.precision, row, column);
  if (!q.sample.empty()) choice.undecided /= static_cast<double>(q.sample.size());
  choice.seconds = residue_seconds(q.engine, q.shape, moduli, q.threads) + seconds_of_looks(q, choice.undecided);
  return choice;
}

ExactChoice choose_exact(const ExactQuestion& q) {
  ExactChoice best = weigh_exact(q, 2);
  for (int moduli = 3; moduli <= max_moduli; ++moduli) {
    const ExactChoice next = weigh_exact(q, moduli);
    if (next.seconds < best.seconds) best = next;
    if (next.undecided == 0) break;  // more moduli can only cost more
  }
  return best;
}

int ordinary_exact_moduli(int precision, std::int64_t k) {
  // The 1-norm is sqrt(k) times the 2-norm at most; a sum of k products of random signs is as large as one of sqrt(k)
  // terms.
  const double relative_log2 = 1 + 2 * root_log2(k);
  const double norm = precision + relative_log2 + ordinary_spare_bits;
  for (int moduli = 2; moduli < max_moduli; ++moduli)
    if (exact_budget_16(moduli, k) >= 32 * norm) return moduli;
  return max_moduli;
}

}  // namespace vernier
