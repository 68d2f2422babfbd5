#include "residue/plan/exact_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace vernier::test::exact_choice_test {
namespace {

// Vectors of one kind: exact from 2^exact_log2 on, one element in so many no integer before.
ExactQuestion question(double exact_log2, double cosine_log2) {
  ExactVector v{.exact_log2 = exact_log2, .one_norm_log2 = 6, .largest_log2 = -4};
  v.inexact.assign(static_cast<std::size_t>(std::ceil(exact_log2)), 4096);
  return {.shape = {4096, 4096, 4096},
          .engine = "amx",
          .threads = 2,
          .precision = 53,
          .rows_exact_log2 = exact_log2,
          .columns_exact_log2 = exact_log2,
          .rows = {v},
          .columns = {v},
          .entries = {{0, 0, cosine_log2}}};
}

TEST(ExactChoice, TakesJustTheModuliThatMakeIntegersOfEverything) {
  const ExactChoice choice = choose_exact(question(15, -6));
  EXPECT_EQ(choice.undecided, 0);
  EXPECT_EQ(choice.moduli, moduli_for(30.0 + 1e-6));
  EXPECT_GE(choice.row_budget_16, 32 * 15);
}

TEST(ExactChoice, IsTheLeastOfAllNumbersOfModuli) {
  for (const double cosine : {-2.0, -6.0, -20.0, -60.0}) {
    const ExactQuestion q = question(170, cosine);
    const ExactChoice best = choose_exact(q);
    for (int moduli = 2; moduli <= max_moduli; ++moduli) EXPECT_GE(weigh_exact(q, moduli).seconds, best.seconds);
  }
}

TEST(ExactChoice, AddsModuliWhereEntriesCancel) {
  int before = 0;
  for (const double cosine : {-2.0, -20.0, -40.0}) {
    const int moduli = choose_exact(question(170, cosine)).moduli;
    EXPECT_GT(moduli, before);
    before = moduli;
  }
  // No number of moduli decides a zero that is no sum of integers: then as few as possible.
  EXPECT_EQ(choose_exact(question(1000, -std::numeric_limits<double>::infinity())).moduli, 2);
}

// Entries far below the norms: where two sums in double decide nothing, each open entry is the exact sum of k products.
TEST(ExactChoice, CountsExactSumsWhereNothingElseDecides) {
  const double sums = 4096.0 * 4096 * 4096 * 5e-9 / 2;
  EXPECT_LT(weigh_exact(question(170, -6), 2).seconds, sums);
  EXPECT_GT(weigh_exact(question(170, -60), 2).seconds, sums);
}

TEST(ExactChoice, GivesWhatOneSideLeavesToTheOther) {
  ExactQuestion q = question(100, -6);
  q.rows_exact_log2 = q.rows[0].exact_log2 = 1;
  const ExactChoice choice = weigh_exact(q, 18);
  EXPECT_EQ(choice.row_budget_16, 32);
  EXPECT_EQ(choice.column_budget_16, 32 * 100);
  EXPECT_EQ(choice.undecided, 0);
}

TEST(ExactChoice, FindsTheLeastWithoutLookingEverywhere) {
  for (const bool device : {false, true})
    for (const double exact : {15.0, 60.0, 170.0})
      for (const double cosine : {-2.0, -6.0, -20.0, -60.0})
        for (const int first : {3, 12, 19, 30}) {
          ExactQuestion q = question(exact, cosine);
          q.device = device;
          EXPECT_EQ(choose_exact_near(q, weigh_exact(q, first)).moduli, choose_exact(q).moduli)
              << exact << ' ' << cosine << ' ' << first;
        }
}

TEST(ExactChoice, OfAGpuTakesMoreModuliWhereManyEntriesWouldStayOpen) {
  EXPECT_EQ(ordinary_device_exact_moduli(53, {4096, 4096, 4096}), 18);
  EXPECT_EQ(ordinary_device_exact_moduli(53, {65536, 65536, 65536}), 19);
  EXPECT_EQ(ordinary_device_exact_moduli(24, {4096, 4096, 4096}), 10);
  EXPECT_EQ(ordinary_device_exact_moduli(24, {16384, 16384, 16384}), 11);
}

// Signs, and one element of 2^-200 in every vector: with few moduli every entry is open for a single place, but then
// none is looked at, and each takes its exact sum of all k.
TEST(ExactChoice, OfAGpuDoesNotCountOnLooksWhereMostEntriesAreOpen) {
  constexpr std::int64_t k = 65536;
  ExactVector v{.exact_log2 = 208, .one_norm_log2 = 8, .largest_log2 = -8};
  v.inexact.assign(200, 1);
  v.inexact.front() = k;
  ExactQuestion q{.shape = {64, 64, k}, .precision = 53, .rows_exact_log2 = 208, .columns_exact_log2 = 208};
  q.rows = q.columns = {v};
  q.entries = {{0, 0, -8}};
  q.device = true;
  const ExactChoice choice = choose_exact_near(q, weigh_exact(q, 17));
  EXPECT_LT(choice.undecided, 0.1);
  EXPECT_GT(weigh_exact(q, 3).seconds, 10 * choice.seconds);
}

TEST(ExactBudget, FitsTheModuliForEveryLength) {
  for (int moduli = 2; moduli <= max_moduli; ++moduli)
    for (std::int64_t k = 1; k <= std::int64_t{1} << 40; k *= 32) {
      const int budget = exact_budget_16(moduli, k);
      if (budget <= 0) continue;  // too few moduli for so many elements
      const double norm = std::exp2(budget / 32.0) + std::sqrt(static_cast<double>(k)) / 2;
      EXPECT_LE(moduli_for(2 * std::log2(norm)), moduli) << k;
      EXPECT_NE(moduli_for(2 * std::log2(norm)), 0);
    }
}

TEST(OrdinaryExactModuli, GrowSlowlyWithTheLength) {
  for (const int precision : {24, 53}) {
    int before = 0;
    for (std::int64_t k = 1; k <= std::int64_t{1} << 30; k *= 2) {
      const int moduli = ordinary_exact_moduli(precision, k);
      EXPECT_GE(moduli, before);
      EXPECT_LE(moduli, before == 0 ? max_moduli : before + 1);
      before = moduli;
    }
  }
  EXPECT_EQ(ordinary_exact_moduli(53, 2048), 19);
}

}  // namespace
}  // namespace vernier::test::exact_choice_test
