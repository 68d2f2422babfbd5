#include "residue/scale/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "residue/residues.hpp"
#include "residue/scale/vector_needs.hpp"
#include "support/random.hpp"

namespace vernier::test::operand_factor_test {
namespace {

// As plan/bounds makes one for 14 moduli.
const ScalingRule rule{.twice_norm_bits_16 = 1756, .largest_exponent = largest_exponent(1)};

std::vector<double> random_vector(std::size_t k, double phi, double width, Random& random) {
  std::vector<double> x(k);
  for (double& element : x) element = width * random.scattered(phi);
  return x;
}

VectorStatistics of(const std::vector<double>& x) {
  return vector_statistics(x.data(), 1, static_cast<std::int64_t>(x.size()));
}

// The elements themselves are multiplied, and measured against the old exponent.
TEST(MultipliedStatistics, BoundTheMultipliedVector) {
  Random random(1);
  for (int m = no_factor; m <= most_factor; ++m)
    for (const double phi : {0.0, 0.5, 1.0, 2.0}) {
      std::vector<double> x = random_vector(700, phi, 1.0, random);
      const VectorStatistics before = of(x), claimed = multiplied(before, m);
      double squares = 0, sum = 0;
      for (double& element : x) {
        element *= m / 16.0;
        const double v = std::ldexp(std::abs(element), quantum_bits - before.exponent);
        squares += v * v;
        sum += v;
      }
      EXPECT_GE(static_cast<double>(claimed.squares), squares * (1 - 1e-12)) << m;
      EXPECT_GE(static_cast<double>(claimed.sum), sum * (1 - 1e-12)) << m;
      EXPECT_EQ(claimed.exponent, before.exponent);
      // G = 2^(exponent - flatness / 2) of lemma 1 grows with the vector.
      if (claimed.flatness != not_flat) {
        EXPECT_LE(-claimed.flatness / 2.0, -before.flatness / 2.0 + std::log2(m / 16.0)) << m;
      }
    }
}

// What partners are charged for a vector: its flatness and 2 log2 of its mean, which a factor lifts above the 2 that
// other vectors cannot pass.
TEST(MultipliedStatistics, HaveTheRoughnessOfTheMultipliedVector) {
  const ScaleChooser chooser(rule, 700);
  for (int m = no_factor; m <= most_factor; ++m)
    for (const double element : {1.0, 1.4, 1.99}) {
      const VectorStatistics claimed = multiplied(of(std::vector<double>(700, element)), m);
      const double mean_2 = 2 * std::log2(element * m / 16);
      EXPECT_GE(chooser.needs(claimed).roughness_2, claimed.flatness + mean_2 - 1e-9) << m << ' ' << element;
    }
}

TEST(MultipliedStatistics, AreTheOldOnesForNoFactor) {
  Random random(2);
  const VectorStatistics v = of(random_vector(600, 0.5, 1.0, random));
  EXPECT_EQ(multiplied(v, no_factor), v);
}

// Whatever power of two the data nearly fill, less than a tenth of a bit and the 2 % for other norms stay unused.
TEST(Factor, LeavesLittleOfTheBudget) {
  Random random(3);
  for (const std::int64_t k : {512, 1000, 2048}) {
    const double budget = std::exp2(rule.twice_norm_bits_16 / 32.0);
    for (const double width : {1.0, 1.1, 1.2, 1.3, 1.5, 1.7, 1.9}) {
      const std::vector<double> x = random_vector(static_cast<std::size_t>(k), 0.0, width, random);
      const VectorStatistics v = of(x);
      const int m = choose_factor(rule, k, {&v, 1});
      double norm = 0;
      for (const double element : x) norm = std::hypot(norm, element);
      norm = std::ldexp(norm * m / 16, ordinary_scale(rule, k, multiplied(v, m)));
      EXPECT_LE(norm, budget);
      EXPECT_GE(norm, budget / 1.1) << k << ", width " << width << ", factor " << m;
    }
  }
}

TEST(Factor, IsNoneForZerosAndForVectorsThatAreIntegersAnyway) {
  EXPECT_EQ(choose_factor(rule, 512, {}), no_factor);
  const VectorStatistics zero;
  EXPECT_EQ(choose_factor(rule, 512, {&zero, 1}), no_factor);
  const std::vector<double> one_element{1.0};
  const VectorStatistics exact = of(one_element);
  EXPECT_EQ(choose_factor(rule, 512, {&exact, 1}), no_factor);
}

}  // namespace
}  // namespace vernier::test::operand_factor_test
