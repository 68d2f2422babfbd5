// Residuals by sums of two doubles against exact sums of the same products: theorem 14's bound holds, none of its parts
// can be left out, and proofs take exact residuals where the bound is seen beside X.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lapack/verified/host_system.hpp"
#include "number/long_accumulator.hpp"
#include "support/random.hpp"

namespace vernier::test::near_residual_test {
namespace {

using Numbers = std::vector<double>;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

struct Equations {
  std::int64_t n;
  Numbers a, x, b;
};

// b - A x of row i, less r.
LongAccumulator row_sum(const Equations& e, std::int64_t i, double r) {
  LongAccumulator sum;
  sum.add_product(e.b[at(i, 0, 0)], 1);
  for (std::int64_t j = 0; j < e.n; ++j) sum.add_product(e.a[at(i, j, e.n)], -e.x[at(j, 0, 0)]);
  sum.add_product(-r, 1);
  return sum;
}

// Of b - A x all but 2^-100 cancels by the last two columns, whose x are 1. Entries of A are some 2^of_a, those of x
// some 2^of_x; one_sign: sums grow to |A||x|.
Equations cancelling(std::int64_t n, int of_a, int of_x, bool one_sign, std::uint64_t seed) {
  Random r(seed);
  Equations e{n, Numbers(static_cast<std::size_t>(n * n)), Numbers(static_cast<std::size_t>(n), 1),
              Numbers(static_cast<std::size_t>(n))};
  for (std::int64_t j = 0; j < n - 2; ++j) e.x[at(j, 0, 0)] = std::ldexp(1 + r.uniform(), of_x);
  for (std::int64_t i = 0; i < n; ++i) {
    e.b[at(i, 0, 0)] = std::ldexp(r.uniform(), of_a + of_x);
    for (std::int64_t j = 0; j < n - 2; ++j)
      e.a[at(i, j, n)] = std::ldexp((1 + r.uniform()) * (one_sign ? -1 : r.sign()), of_a);
    double& high = e.a[at(i, n - 2, n)];
    high = row_sum(e, i, 0).rounded<double>();
    e.a[at(i, n - 1, n)] = row_sum(e, i, 0).rounded<double>() + high * (0x1p-100 * (1 + r.uniform()));
  }
  return e;
}

bool is_within(const LongAccumulator& error, double bound) {
  LongAccumulator above = error, below = error;
  above.add_product(-bound, 1), below.add_product(bound, 1);
  return above.sign() <= 0 && below.sign() >= 0;
}

// How often errors exceed what single parts of the bound would allow.
struct Seen {
  int beyond_own_rounding = 0, beyond_one_share = 0;
};

Seen compare(const Equations& e) {
  const Options options{.threads = 2};
  const ApproximateInverse none;
  const HostSystem system(e.n, 1, e.a.data(), e.n, e.b.data(), e.n, none, options);
  const Numbers r = system.near_residual(e.x), bound = system.near_error(e.x, r);
  Seen seen;
  for (std::int64_t i = 0; i < e.n; ++i) {
    const double near = r[at(i, 0, 0)];
    const LongAccumulator error = row_sum(e, i, near);
    EXPECT_TRUE(is_within(error, bound[at(i, 0, 0)])) << "n = " << e.n << ", row " << i << ", " << near;
    double size = std::fabs(e.b[at(i, 0, 0)]);
    for (std::int64_t j = 0; j < e.n; ++j) size += std::fabs(e.a[at(i, j, e.n)] * e.x[at(j, 0, 0)]);
    // The bound without n and without columns in it, and what is rounded upwards in it.
    const double own = std::fabs(near) * 0x1p-53 + 2 * 0x1p-1074;
    seen.beyond_own_rounding += is_within(error, own) ? 0 : 1;
    seen.beyond_one_share += is_within(error, own + size * 0x1p-108) ? 0 : 1;
  }
  return seen;
}

TEST(NearResidual, ErrorsOfRowsThatCancelAreWithinTheBound) {
  for (const bool one_sign : {true, false})
    for (const std::int64_t n : {4, 5, 1000}) {
      Seen all;
      for (std::uint64_t seed = 0; seed < (n < 1000 ? 200 : 1); ++seed) {
        const Equations e = cancelling(n, 0, 0, one_sign, 100 + seed);
        for (std::int64_t i = 0; i < n; ++i) {
          const double left = std::fabs(row_sum(e, i, 0).rounded<double>()), most = std::fabs(e.a[at(i, n - 2, n)]);
          EXPECT_TRUE(left > most * 0x1p-102 && left < most * 0x1p-98) << left / most;
        }
        const Seen seen = compare(e);
        all.beyond_own_rounding += seen.beyond_own_rounding, all.beyond_one_share += seen.beyond_one_share;
      }
      EXPECT_GT(all.beyond_own_rounding, 100) << n;
      if (n == 1000) {
        EXPECT_GT(all.beyond_one_share, 100) << n;
      }
    }
}

TEST(NearResidual, ErrorsOfSubnormalProductsAreWithinTheBound) {
  for (const std::int64_t n : {4, 5, 1000})
    for (const int of_products : {-1000, -1050}) {  // their errors alone, or they themselves, are subnormal
      Seen all;
      for (std::uint64_t seed = 0; seed < (n < 1000 ? 50 : 1); ++seed) {
        const Seen seen = compare(cancelling(n, -600, of_products + 600, false, 300 + seed));
        all.beyond_own_rounding += seen.beyond_own_rounding;
      }
      if (n == 1000) {
        EXPECT_GT(all.beyond_own_rounding, 100) << of_products;
      }
    }
}

// Counts exact residuals.
class Counting final : public HostSystem {
 public:
  using HostSystem::HostSystem;
  Vectors residual(const Vectors& x) const override {
    ++exact;
    return HostSystem::residual(x);
  }
  mutable int exact = 0;
};

TEST(NearResidual, IsTheExactOneWhereProductsOverflow) {
  const Numbers a{0x1p1000, 0, 0, 0, -0x1p1000, 1, 0, 0, 0.1, 0, 1, 0, 0, 0, 0, 1}, x{0x1p30, 0x1p30, 0.3, 1},
      b{1, 2, 3, 4};
  const Options options;
  const ApproximateInverse none;
  const Counting system(4, 1, a.data(), 4, b.data(), 4, none, options);
  const Numbers r = system.near_residual(x);
  EXPECT_EQ(system.exact, 1);
  EXPECT_EQ(r, (Numbers{std::fma(-0.1, 0.3, 1), 2 - 0x1p30, 3 - 0.3, 3}));
}

// How often a proof of A X = B takes exact residuals; X, whole numbers, must be enclosed by at most `width` of the
// largest.
int exact_residuals(std::int64_t n, std::int64_t columns, const Numbers& a, const Numbers& x, double width) {
  Numbers b(x.size());
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) b[at(i, c, n)] += a[at(i, j, n)] * x[at(j, c, n)];  // whole numbers
  const Options options{.threads = 2};
  const ApproximateInverse inverse = approximate_inverse(n, a.data(), n, Proves::solutions, options);
  EXPECT_EQ(inverse.failure, "");
  const Counting system(n, columns, a.data(), n, b.data(), n, inverse, options);
  const Enclosure e = enclose(system, inverse);
  EXPECT_TRUE(e.finite);
  Numbers low(x.size()), high(x.size());
  write_intervals(e, n, columns, low.data(), high.data(), n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(low[i] <= x[i] && x[i] <= high[i]) << low[i] << ' ' << x[i] << ' ' << high[i];
    EXPECT_LE(high[i] - low[i], width) << x[i];
  }
  return system.exact;
}

TEST(NearResidual, GivesWayToTheExactOneWhereItsErrorIsSeen) {
  for (const std::int64_t n : {4, 5, 300}) {
    Random r(17);
    Numbers a(static_cast<std::size_t>(n * n)), x(static_cast<std::size_t>(n));
    for (double& e : a) e = static_cast<double>(r.integer(-(1 << 20), 1 << 20));
    for (std::int64_t i = 0; i < n; ++i) a[at(i, i, n)] += static_cast<double>(n << 20);
    for (double& e : x) e = r.sign() * static_cast<double>(r.integer(1, 10));
    EXPECT_EQ(exact_residuals(n, 1, a, x, 0x1p-42), 0) << "nothing is seen, n = " << n;

    // Entries that are zero, or nothing but roundoff of others, see errors beside the largest.
    Numbers with_zeros = x;
    with_zeros[1] = with_zeros[3] = 0;
    EXPECT_EQ(exact_residuals(n, 1, a, with_zeros, 0x1p-42), 0) << "n = " << n;

    // Two columns differ by some 2^-46 of themselves: |R| times the error is seen everywhere.
    Numbers near_singular = a;
    for (std::int64_t i = 0; n < 300 && i < n; ++i) {
      near_singular[at(i, 0, n)] = std::ldexp(a[at(i, 0, n)], 24);
      near_singular[at(i, 1, n)] = near_singular[at(i, 0, n)] + r.sign() * static_cast<double>(r.integer(1, 2));
    }
    if (n < 300) {
      EXPECT_EQ(exact_residuals(n, 1, near_singular, x, 0x1p-42), 1) << "n = " << n;
    }

    // So many columns have no bound.
    Numbers many;
    for (std::int64_t c = 0; c <= by_loop; ++c) many.insert(many.end(), x.begin(), x.end());
    EXPECT_EQ(exact_residuals(n, by_loop + 1, a, many, 0x1p-42), 1) << "n = " << n;
  }
}

// Rows that three doubles settle, all of them as an exact sum rounds; and what they say is what exact_residual() has.
int settled(const Equations& e) {
  ThreeDoubleRows rows;
  rows.sum(e.n, e.a.data(), e.n, e.x.data(), 0, e.n, e.b.data());
  const Numbers all = exact_residual(e.n, 1, e.a.data(), e.n, e.x, e.b, {.threads = 2});
  int settled = 0;
  for (std::int64_t i = 0; i < e.n; ++i) {
    const double exact = row_sum(e, i, 0).rounded<double>();
    EXPECT_EQ(all[at(i, 0, 0)], exact) << i;
    double y = NAN;
    if (!rows.rounded(i, y)) continue;
    EXPECT_EQ(y, exact) << i;
    ++settled;
  }
  return settled;
}

TEST(NearResidual, ThreeDoublesSettleWhatTheyProve) {
  for (const std::int64_t n : {3, 20, 64}) {
    for (const int exponent : {0, 300, -300}) {
      Equations e = cancelling(n, exponent, 0, true, 5);  // to 2^-100 of |A||x|
      EXPECT_EQ(settled(e), 0) << n;
      for (double& b : e.b) b = std::nextafter(b, 0);  // to one unit of b
      EXPECT_EQ(settled(e), n) << n;
    }
    Equations e = cancelling(n, 0, 0, false, 6);
    for (std::int64_t j = 0; j < n; ++j) e.x[at(j, 0, 0)] = j == 0 ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) e.b[at(i, 0, 0)] = e.a[at(i, 0, n)];
    EXPECT_EQ(settled(e), 0) << "zeros, " << n;  // no bound tells a zero from a number below it
    e.x[1] = 0x1p-53, e.a[at(0, 0, n)] = e.b[0] = 0, e.a[at(0, 1, n)] = -1, e.a[at(0, 2, n)] = -1, e.x[2] = 1;
    EXPECT_EQ(settled(e), n == 3 ? 2 : n - 1) << "a tie, " << n;
    EXPECT_EQ(settled(cancelling(n, -540, -500, true, 7)), 0) << "below the normal numbers, " << n;
    EXPECT_EQ(settled(cancelling(n, 500, 523, true, 8)), 0) << "beyond the largest, " << n;
  }
}

TEST(Threads, AreAsManyAsTheLargerSideKeepsBusy) {
  const Options asked{.threads = 4};
  EXPECT_EQ(for_order(0, asked).threads, 1);
  EXPECT_EQ(for_order(300, asked).threads, 1);
  EXPECT_EQ(for_order(600, asked).threads, 2);
  EXPECT_EQ(for_order(10000, asked).threads, 4);
}

// Runs f, which must throw gemm's words.
template <class F>
void expect_refused(const char* routine, const F& f) {
  try {
    f();
    ADD_FAILURE() << routine << ": nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::invalid_argument);
    EXPECT_EQ(std::string(e.what()), std::string(routine) + ": threads = -1: expected 0 or more");
  }
}

TEST(Threads, AreRefusedBelowZero) {
  const Options options{.threads = -1};
  const double a[1] = {2};
  double low[1] = {5}, high[1] = {6};
  DeterminantInterval determinant;
  expect_refused("gemm", [&] { gemm<double>(Op::none, Op::none, 1, 1, 1, 1, a, 1, a, 1, 0, low, 1, options); });
  expect_refused("verified_solve", [&] { (void)verified_solve(1, 1, a, 1, a, 1, low, high, 1, options); });
  expect_refused("verified_inverse", [&] { (void)verified_inverse(1, a, 1, low, high, 1, options); });
  expect_refused("verified_determinant", [&] { (void)verified_determinant(1, a, 1, determinant, options); });
  expect_refused("verified_definite", [&] { (void)verified_definite(1, a, 1, low[0], options); });
  EXPECT_EQ(low[0], 5);
  EXPECT_EQ(high[0], 6);
}

}  // namespace
}  // namespace vernier::test::near_residual_test
