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
  SliceCounts counts{.slices = {below(8), below(8)}, .fast = below(2) == 0, .k = 1 + below(50)};
  counts.k_block = 1 + below(static_cast<int>(counts.k));
  counts.neighbours = 1 + below(5);
  return counts;
}

TEST(SliceProducts, MakeEachProductOfEachBlockOnceAndAddItOnce) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const SliceCounts counts = some_counts(random);
    const auto [a, b] = counts.slices;
    const SliceProducts plan = plan_slice_products(counts);
    std::map<std::tuple<int, int, std::int64_t>, int> made;
    std::map<std::int64_t, Pair> stored;
    for (const SliceJob& job : plan.jobs)
      for (int i = 0; i < job.count; ++i) {
        ++made[{job.p, job.q + i, job.l}];
        const bool is_new = stored.insert({job.product + i, {job.p, job.q + i}}).second;
        EXPECT_TRUE(is_new);
      }
    std::size_t expected = 0;
    for (std::int64_t l = 0; l < counts.k; l += counts.k_block)
      for (int p = 0; p < a; ++p)
        for (int q = 0; q < b; ++q) {
          if (counts.fast && p + q >= std::max(a, b)) continue;
          ++expected;
          EXPECT_EQ((made[{p, q, l}]), 1);
        }
    EXPECT_EQ(made.size(), expected);
    EXPECT_EQ(static_cast<std::int64_t>(stored.size()), plan.count);
    std::set<std::int64_t> added;
    for (const SliceTerm& term : plan.terms) {
      EXPECT_TRUE(added.insert(term.product).second);
      EXPECT_EQ(stored.at(term.product), Pair(term.p, term.q));
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

TEST(SliceProducts, OneCallTakesTheSlicesOfBThatLieSideBySide) {
  const SliceProducts plan = plan_slice_products({.slices = {1, 6}, .k = 8, .k_block = 8, .neighbours = 4});
  ASSERT_EQ(plan.jobs.size(), 2u);
  EXPECT_EQ(plan.jobs[0].count, 4);
  EXPECT_EQ(plan.jobs[1].q, 4);
  EXPECT_EQ(plan.jobs[1].count, 2);
}

}  // namespace
}  // namespace vernier::products_test
