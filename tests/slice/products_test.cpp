// Every product of slices that the scheme asks for is made once, and the sum takes them in the published order.
#include "slice/products.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

namespace vernier::products_test {
namespace {

using Pair = std::pair<int, int>;

SliceCounts some_counts(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  SliceCounts counts{.fast = below(2) == 0, .grouped = below(2) == 0, .k = 1 + below(50), .neighbours = 1 + below(5)};
  counts.k_block = 1 + below(static_cast<int>(counts.k));
  for (int i = 1 + below(7); i > 0; --i) counts.zero.a.push_back(below(4) == 0);
  for (int i = 1 + below(7); i > 0; --i) counts.zero.b.push_back(below(4) == 0);
  for (std::size_t i = 0; i < counts.zero.a.size(); ++i) counts.few.a.push_back(below(4) == 0);
  for (std::size_t i = 0; i < counts.zero.b.size(); ++i) counts.few.b.push_back(below(4) == 0);
  return counts;
}

std::set<Pair> wanted(const SliceCounts& counts) {
  const int a = static_cast<int>(counts.zero.a.size()), b = static_cast<int>(counts.zero.b.size());
  std::set<Pair> pairs;
  for (int p = 0; p < a; ++p)
    for (int q = 0; q < b; ++q)
      if (!counts.fast || p + q < std::max(a, b)) pairs.insert({p, q});
  return pairs;
}

bool is_empty(const SliceCounts& counts, Pair pair) {
  return counts.zero.a[static_cast<std::size_t>(pair.first)] || counts.zero.b[static_cast<std::size_t>(pair.second)];
}

TEST(SliceProducts, MakeEachProductOfEachBlockOnceAndLeaveOutTheEmptyOnes) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const SliceCounts counts = some_counts(random);
    const SliceProducts plan = plan_slice_products(counts);
    const std::set<Pair> pairs = wanted(counts);
    EXPECT_EQ(plan.products, static_cast<int>(pairs.size()));
    std::map<std::tuple<int, int, std::int64_t>, int> made;
    for (const SliceJob& job : plan.jobs)
      for (int i = 0; i < job.count; ++i) ++made[{job.p, job.q + i, job.l}];
    std::int64_t skipped = 0, expected = 0;
    for (std::int64_t l = 0; l < counts.k; l += counts.k_block)
      for (const Pair& pair : pairs) {
        if (is_empty(counts, pair)) {
          ++skipped;
          continue;
        }
        ++expected;
        EXPECT_EQ((made[{pair.first, pair.second, l}]), 1);
      }
    EXPECT_EQ(plan.skipped, skipped);
    EXPECT_EQ(static_cast<std::int64_t>(made.size()), expected);
  }
}

// A call that does not add begins a stored product; one that adds goes to where equal weight was just stored.
TEST(SliceProducts, StoreEachSumOnceAndOverwriteNothing) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const SliceCounts counts = some_counts(random);
    const SliceProducts plan = plan_slice_products(counts);
    std::map<std::int64_t, std::pair<int, std::int64_t>> stored;  // product: weight, block of k
    for (const SliceJob& job : plan.jobs)
      for (int i = 0; i < job.count; ++i) {
        const std::pair<int, std::int64_t> what{job.p + job.q + i, job.l};
        const auto [place, is_new] = stored.insert({job.product + i, what});
        EXPECT_EQ(is_new, !job.accumulate);
        EXPECT_EQ(place->second, what);
        EXPECT_TRUE(!job.accumulate || counts.grouped);
      }
    EXPECT_EQ(static_cast<std::int64_t>(stored.size()), plan.count);
    std::set<std::int64_t> added;
    for (const SliceTerm& term : plan.terms) {
      EXPECT_TRUE(added.insert(term.product).second);
      EXPECT_EQ(stored.at(term.product).first, term.p + term.q);
    }
    EXPECT_EQ(added.size(), stored.size());
  }
}

TEST(SliceProducts, AreAddedFromTheSmallestWeightsToTheLargest) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const SliceProducts plan = plan_slice_products(some_counts(random));
    for (std::size_t i = 1; i < plan.terms.size(); ++i) {
      const SliceTerm &x = plan.terms[i - 1], &y = plan.terms[i];
      EXPECT_GE(x.p + x.q, y.p + y.q);
      EXPECT_TRUE(x.p + x.q != y.p + y.q || x.p <= y.p);
    }
  }
}

// Sums that are exact take neighbours in weight one after another.
TEST(SliceProducts, AreAddedSliceBySliceWhereTheOrderDoesNotMatter) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 2000; ++trial) {
    SliceCounts counts = some_counts(random);
    counts.grouped = false;
    const std::size_t terms = plan_slice_products(counts).terms.size();
    counts.any_order = true;
    const SliceProducts plan = plan_slice_products(counts);
    EXPECT_EQ(plan.terms.size(), terms);
    for (std::size_t i = 1; i < plan.terms.size(); ++i) {
      const SliceTerm &x = plan.terms[i - 1], &y = plan.terms[i];
      EXPECT_TRUE(x.p < y.p || (x.p == y.p && x.q <= y.q));
    }
  }
}

TEST(SliceProducts, OfSlicesWithFewDigitsAreCallsOfTheirOwn) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const SliceCounts counts = some_counts(random);
    for (const SliceJob& job : plan_slice_products(counts).jobs) {
      for (int i = 0; i < job.count; ++i) {
        const bool a = counts.few.a[static_cast<std::size_t>(job.p)];
        const bool b = counts.few.b[static_cast<std::size_t>(job.q + i)];
        EXPECT_EQ(job.few, a ? SliceJob::Few::a : b ? SliceJob::Few::b : SliceJob::Few::none);
      }
      EXPECT_TRUE(job.few == SliceJob::Few::none || job.count == 1);
    }
  }
}

TEST(SliceProducts, OneCallTakesTheSlicesOfBThatLieSideBySide) {
  const SliceProducts plan =
      plan_slice_products({.zero = {{false}, std::vector<bool>(6, false)}, .k = 8, .k_block = 8, .neighbours = 4});
  ASSERT_EQ(plan.jobs.size(), 2u);
  EXPECT_EQ(plan.jobs[0].count, 4);
  EXPECT_EQ(plan.jobs[1].q, 4);
  EXPECT_EQ(plan.jobs[1].count, 2);
}

// At n = 4096 a digit in 400 goes around fp16 products and one in 150 does not; small blocks are done sooner by cuBLAS.
TEST(SparseSlice, PayInLargeProductsAlone) {
  const SliceRates fp16{0.83e15, 2.4e12};
  const auto pay = [&](double n, double k, double share) { return sparse_pays(n, n, k, share * n * k, n, fp16); };
  EXPECT_TRUE(pay(4096, 4096, 1.0 / 400));
  EXPECT_FALSE(pay(4096, 4096, 1.0 / 150));
  EXPECT_FALSE(pay(1024, 4096, 1e-6));
  EXPECT_FALSE(pay(1024, 1024, 1e-6));
  EXPECT_TRUE(pay(8192, 8192, 1.0 / 400));
}

}  // namespace
}  // namespace vernier::products_test
