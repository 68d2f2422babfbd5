// Systems A x = b whose exact x is known, as formulas: A is cut to multiples of a power of two, x holds small integers,
// so that b = A x is a double without any rounding; then rows and columns may be scaled by powers of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#if defined(__CUDACC__)
#define VERNIER_KNOWN __host__ __device__ inline
#else
#define VERNIER_KNOWN inline
#endif

namespace vernier::bench {

enum class KnownFamily {
  integers,
  condition,
  condition_graded,
  cauchy,
  vandermonde,
  parter,     // of Cauchy's kind, nodes between one another: well-conditioned
  chebyshev,  // Vandermonde's in polynomials that suit its nodes
  count
};

inline const char* name_of(KnownFamily f) {
  constexpr const char* names[] = {"integers",
                                   "condition 1e2 to 1e14",
                                   "the same, rows and columns graded",
                                   "Cauchy",
                                   "Vandermonde",
                                   "Cauchy, nodes interlaced, graded",
                                   "Chebyshev-Vandermonde"};
  return names[static_cast<int>(f)];
}

struct KnownRule {
  KnownFamily family;
  std::int64_t n;
  std::uint64_t seed;
  double decades;  // of singular values
  int grid;        // bits of an element
  int terms;       // elements of x that are not zero
  int grades;      // exponents of rows and columns are below this in magnitude
};

VERNIER_KNOWN std::uint64_t mixed_seed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

VERNIER_KNOWN double uniform_of(std::uint64_t seed, std::int64_t i) {  // [0, 1)
  return static_cast<double>(mixed_seed(mixed_seed(seed) + static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

VERNIER_KNOWN int grade_of(const KnownRule& r, std::uint64_t side, std::int64_t i) {
  if (r.grades == 0) return 0;
  return static_cast<int>(mixed_seed(mixed_seed(r.seed + side) + static_cast<std::uint64_t>(i)) %
                          static_cast<std::uint64_t>(2 * r.grades + 1)) -
         r.grades;
}

VERNIER_KNOWN double cosine_of_pi(double x) {
#if defined(__CUDA_ARCH__)
  return cospi(x);
#else
  return std::cos(3.14159265358979323846 * x);
#endif
}

// Orthogonal: cosines with random signs; columns times falling singular values where it is the left factor.
VERNIER_KNOWN double factor_element(const KnownRule& r, bool left, std::int64_t i, std::int64_t j) {
  const std::int64_t wave = left ? j : i, place = left ? i : j;
  const double count = static_cast<double>(r.n), sign = uniform_of(r.seed + (left ? 1 : 2), place) < 0.5 ? -1 : 1;
  double e = sign * sqrt((wave == 0 ? 1 : 2) / count) *
             cosine_of_pi(static_cast<double>((2 * place + 1) * wave % (4 * r.n)) / (2 * count));
  if (left) e *= pow(10.0, -r.decades * static_cast<double>(wave) / (r.n > 1 ? count - 1 : 1));
  return e;
}

VERNIER_KNOWN double formula_element(const KnownRule& r, std::int64_t i, std::int64_t j) {
  const double own = uniform_of(r.seed, 0);
  switch (r.family) {
    case KnownFamily::cauchy:
      return 1 / (static_cast<double>(i + j + 1) + own);
    case KnownFamily::vandermonde:
      return pow(2 * uniform_of(r.seed, i) - 1, static_cast<double>(j));
    case KnownFamily::parter:
      return 0.2 / (static_cast<double>(i - j) + 0.25 + own / 2);
    case KnownFamily::chebyshev:  // nodes a fifth of their distance off
      return cosine_of_pi(fmod((static_cast<double>(i) + 0.5 + 0.2 * (uniform_of(r.seed, i) - 0.5)) *
                                   static_cast<double>(j) / static_cast<double>(r.n),
                               2.0));
    default:
      return 2 * uniform_of(r.seed, i + j * r.n) - 1;
  }
}

VERNIER_KNOWN double solution_element(const KnownRule& r, std::int64_t i) {
  const std::int64_t step = r.n / r.terms;
  const double sign = uniform_of(r.seed + 3, i) < 0.5 ? -1 : 1;
  return i % step == step / 2 && i / step < r.terms ? sign : 0;
}

// |x| < 1 -> integers below 2^grid, of which none is lost.
VERNIER_KNOWN double on_grid(const KnownRule& r, double x) { return rint(ldexp(x, r.grid)); }

// sum + e x as a double; rounded: it is not exact.
VERNIER_KNOWN double add_exactly(double sum, double e, double x, bool& rounded) {
  const double p = e * x, s = sum + p, of_p = s - sum;
  rounded = rounded || fma(e, x, -p) != 0 || (sum - (s - of_p)) + (p - of_p) != 0;
  return s;
}

struct KnownSizes {
  std::int64_t least = 1000, common = 1200, most = 8192;  // nine of ten systems have least to common
};

inline KnownRule known_rule(std::int64_t index, std::int64_t seed, const KnownSizes& sizes) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) * 1000003 + static_cast<std::uint64_t>(index));
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const std::int64_t kind = between(0, 999);
  const std::int64_t n = kind < 900   ? between(sizes.least, sizes.common)
                         : kind < 970 ? between(sizes.common + 1, 2048)
                         : kind < 993 ? between(2049, 4096)
                                      : between(4097, 8192);
  // Of twenty systems ten have a condition, five are of integers, four have structure, one is of the families that
  // mostly cannot be proved.
  const auto place = static_cast<int>(index % 20);
  const auto ill =
      static_cast<KnownFamily>(static_cast<int>(KnownFamily::condition_graded) + static_cast<int>(index / 20 % 3));
  const KnownFamily family = place < 10   ? KnownFamily::condition
                             : place < 15 ? KnownFamily::integers
                             : place < 17 ? KnownFamily::parter
                             : place < 19 ? KnownFamily::chebyshev
                                          : ill;
  KnownRule r{family, std::min(n, sizes.most), random(), 0, 0, 4, 0};
  const bool has_condition = family == KnownFamily::condition || family == KnownFamily::condition_graded;
  if (has_condition) r.decades = 2 + 12 * static_cast<double>(between(0, 1000)) * 1e-3;
  // Below what the grid adds all elements of x may count.
  if ((has_condition && r.decades < 9) || family == KnownFamily::integers || family == KnownFamily::parter ||
      family == KnownFamily::chebyshev)
    r.terms = static_cast<int>(r.n);
  if (family == KnownFamily::condition_graded) r.grades = static_cast<int>(between(1, 60));
  if (family == KnownFamily::parter) r.grades = static_cast<int>(between(0, 12));
  int bits = 0;
  while ((std::int64_t{1} << bits) < r.terms) ++bits;
  r.grid = 52 - bits;
  return r;
}

}  // namespace vernier::bench
