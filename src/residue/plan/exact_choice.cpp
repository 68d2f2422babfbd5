#include "residue/plan/exact_choice.hpp"
#include "residue/plan/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "residue/plan/plan_cuda.hpp"

namespace vernier {
namespace {

// Ordinary data are planned for so few open entries that their second looks cost a part of what a modulus costs on the
// fastest engine; another one makes them 16 to 256 times rarer. On two cores of an Emerald Rapids, n = 2048: 18 moduli
// leave 2637 entries open, which take 8 ms of 61; the 19th costs 3 ms.
constexpr double ordinary_open_share = 1.0 / 8192;

// A second look on one core of a Zen 4: its two vectors, partly from memory, and what does not depend on k; and the
// exact sum.
constexpr double refine_seconds_per_k = 0.8e-9, entry_seconds = 1.7e-6, sum_seconds_per_k = 5e-9;

// The exact sum of an entry on one H200, where many are under way: 38 941 of k = 16384 took about 20 ms. And the look
// at its inexact elements, as long as all their places are kept.
constexpr double device_sum_seconds_per_k = 3.5e-11, device_sum_seconds = 3e-8;
constexpr double device_refine_seconds_per_place = 4e-11, device_refine_seconds = 5e-10;

// Where more than half of a block is open, nothing is looked at (DeviceExactBlock::refines); the share is a sample's.
constexpr double most_refined = 0.4;

// A larger share of open entries than this asks for more moduli, whatever their number costs.
constexpr double few_open = 1.0 / 256;

double root_log2(std::int64_t k) { return std::log2(static_cast<double>(std::max<std::int64_t>(k, 1))) / 2; }

// log2(2^x + sqrt(k) / 2): a norm and its rounding to integers.
double with_rounding(double norm_log2, std::int64_t k) {
  return norm_log2 + std::log2(1 + std::exp2(root_log2(k) - 1 - norm_log2));
}

double at(const std::vector<double>& inexact, double exponent) {
  if (exponent < 0) return inexact.empty() ? 0 : inexact.front();
  const auto e = static_cast<std::size_t>(exponent);
  return e < inexact.size() ? inexact[e] : 0;
}

// A sampled vector at a given norm, in numbers instead of logarithms.
struct ScaledVector {
  double inexact;                  // elements that are no integers
  double rounded;                  // elements that are no integers, over the norm
  double half_norm, half_largest;  // of ExactVector, halved
  double inverse_norm;             // 0 where all elements are integers
};

std::vector<ScaledVector> at_norm(const std::vector<ExactVector>& vectors, double norm_log2) {
  std::vector<ScaledVector> scaled;
  scaled.reserve(vectors.size());
  const double inverse = std::exp2(-norm_log2);
  for (const ExactVector& x : vectors) {
    const bool integers = norm_log2 >= x.exact_log2;
    const double inexact = integers ? 0 : at(x.inexact, norm_log2 + x.largest_log2);
    scaled.push_back({inexact, inexact * inverse, std::exp2(x.one_norm_log2) / 2, std::exp2(x.largest_log2) / 2,
                      integers ? 0 : inverse});
  }
  return scaled;
}

// Theorem 6, one side: what rounding a vector costs against the product of both 2-norms.
double rounding_cost(const ScaledVector& x, const ScaledVector& partner) {
  return std::min(x.rounded * partner.half_largest, x.inverse_norm * partner.half_norm);
}

double seconds_of_sum(std::int64_t k) { return device_sum_seconds + static_cast<double>(k) * device_sum_seconds_per_k; }

// An entry that the rounding test leaves open, or a share of one.
double seconds_of_looks(const ExactQuestion& q, const ScaledVector& row, const ScaledVector& column,
                        double cosine_log2) {
  const auto k = static_cast<double>(q.shape.k);
  if (!q.device) {  // theorem 8: the products' errors add up to some 4 u |A||B|, and are themselves added with errors
    const double summed = std::min(1.0, (4 * k + 64) * std::exp2(q.precision - 103 - cosine_log2));
    return (entry_seconds + k * (refine_seconds_per_k + summed * sum_seconds_per_k)) / q.threads;
  }
  if (std::max(row.inexact, column.inexact) > cuda::kept_places) return seconds_of_sum(q.shape.k);
  return device_refine_seconds + (row.inexact + column.inexact) * device_refine_seconds_per_place;
}

// Of entries like the sampled ones: the mean share that the rounding test leaves open, and the time that all looks
// take.
struct OpenEntries {
  double share = 0, seconds = 0;
};

// An entry stays open with a probability of twice the bound over the distance of two neighbours, which is at least
// 2^-precision of the entry.
OpenEntries open_entries(const ExactQuestion& q, double row_budget, double column_budget) {
  OpenEntries open;
  if (q.entries.empty()) return open;
  const std::vector<ScaledVector> rows = at_norm(q.rows, row_budget), columns = at_norm(q.columns, column_budget);
  for (const ExactEntry& e : q.entries) {
    const ScaledVector &row = rows[e.row], &column = columns[e.column];
    const double relative = rounding_cost(row, column) + rounding_cost(column, row);
    if (relative == 0) continue;
    const double share = std::min(1.0, 2 * relative * std::exp2(q.precision - e.cosine_log2));
    open.share += share;
    open.seconds += share * seconds_of_looks(q, row, column, e.cosine_log2);
  }
  const auto sampled = static_cast<double>(q.entries.size());
  if (q.device && open.share > most_refined * sampled) open.seconds = open.share * seconds_of_sum(q.shape.k);
  open.share /= sampled;
  open.seconds *= static_cast<double>(q.shape.m) * static_cast<double>(q.shape.n) / sampled;
  return open;
}

// Evenly distributed data: elements of eight times the root mean square at most, entries that are normally distributed.
ExactQuestion ordinary_question(int precision, std::int64_t k) {
  constexpr double peak_log2 = 3, small_share = 6;  // share of elements below 2^-d of the largest: 6 * 2^-d
  constexpr double quantiles[] = {0.03, 0.16, 0.28, 0.42, 0.57, 0.74, 0.95, 1.22, 1.58, 2.15};
  const double root = root_log2(k);
  ExactVector v{.exact_log2 = 1e9, .one_norm_log2 = root, .largest_log2 = std::min(0.0, peak_log2 - root)};
  for (int e = 0; e < 256; ++e)
    v.inexact.push_back(static_cast<double>(k) * std::min(1.0, small_share * std::exp2(precision - 1 - e)));
  ExactQuestion q{.shape = {1, 1, k}, .precision = precision, .rows_exact_log2 = 1e9, .columns_exact_log2 = 1e9};
  q.rows = q.columns = {v};
  for (const double cosine : quantiles) q.entries.push_back({0, 0, std::log2(cosine) - root});
  return q;
}

double seconds_of_products(const ExactQuestion& q, int moduli) {
  return q.device ? device_residue_seconds(q.shape, moduli)
                  : tabled_residue_seconds(q.engine, q.shape, moduli, q.threads);
}

// A product's plan asks three times, and an answer takes 30 us: the thread's last one is kept.
template <std::size_t Count, class Answer>
int kept_answer(const std::array<std::int64_t, Count>& question, const Answer& answer) {
  thread_local std::pair<std::array<std::int64_t, Count>, int> last;
  if (last.first != question) last = {question, answer()};
  return last.second;
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
  const OpenEntries open = open_entries(q, row, column);
  choice.undecided = open.share;
  choice.seconds = seconds_of_products(q, moduli) + open.seconds;
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

ExactChoice choose_exact_near(const ExactQuestion& q, const ExactChoice& first) {
  ExactChoice best = first;
  if (best.undecided > few_open) return choose_exact(q);
  for (const int step : {-1, 1})
    while (best.moduli + step >= 2 && best.moduli + step <= max_moduli) {
      const ExactChoice next = weigh_exact(q, best.moduli + step);
      if (next.seconds >= best.seconds) break;
      best = next;
    }
  return best;
}

ExactVector exact_vector(const VectorStatistics& v, int lowest_bit) {
  if (v.zero()) return {};
  const double norm = std::log2(static_cast<double>(v.squares)) / 2 - quantum_bits;  // over 2^exponent
  return {.exact_log2 = std::ceil(32 * (norm + v.exponent - lowest_bit) + 0.01) / 32,
          .one_norm_log2 = std::log2(static_cast<double>(v.sum)) - quantum_bits - norm,
          .largest_log2 = -norm};
}

void count_inexact_above(std::vector<double>& counts) {
  double more = 0;
  for (auto e = counts.size(); e-- > 0;) more += std::exchange(counts[e], more);
  if (counts.size() > 1) counts.back() = counts[counts.size() - 2];
}

int ordinary_exact_moduli(int precision, std::int64_t k) {
  return kept_answer<2>({precision, k}, [&] {
    const ExactQuestion q = ordinary_question(precision, k);
    int moduli = 2;
    while (moduli < max_moduli && weigh_exact(q, moduli).undecided > ordinary_open_share) ++moduli;
    return moduli;
  });
}

int ordinary_device_exact_moduli(int precision, const ProductShape& shape) {
  return kept_answer<4>({precision, shape.m, shape.n, shape.k}, [&] {
    ExactQuestion q = ordinary_question(precision, shape.k);
    q.shape = shape;
    q.device = true;
    return choose_exact_near(q, weigh_exact(q, ordinary_exact_moduli(precision, shape.k))).moduli;
  });
}

}  // namespace vernier
