#include "residue/plan/bounds.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "residue/residues.hpp"
#include "residue/scale/scaling.hpp"
#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/random.hpp"

namespace vernier::test::bounds_test {
namespace {

template <class T>
class BoundsTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BoundsTest, Types);

std::vector<Contract> contracts() {
  std::vector<Contract> list = {Contract::fp32(), Contract::fp64(), Contract::normwise()};
  for (const int n : {4, 11, 24, 40, 53, 64, 80, 110}) list.push_back(Contract::bits(n));
  return list;
}

TEST(OrdinaryModuli, AreThoseOfTheContracts) {
  for (const std::int64_t k : {1024, 4096, 32768}) {
    EXPECT_EQ(ordinary_moduli<double>(Contract::fp64(), k), 15) << k;
    EXPECT_EQ(ordinary_moduli<float>(Contract::fp32(), k), 7) << k;
    EXPECT_EQ(ordinary_moduli<double>(Contract::normwise(), k), 14) << k;
  }
  EXPECT_EQ(ordinary_moduli<double>(Contract::fp32(), 4096), 7);
}

// Whatever power of two they fill, or leave half empty.
TEST(SqrtRule, ServesEvenlyDistributedData) {
  Random random(17);
  constexpr std::size_t vectors = 20;
  for (const std::int64_t k : {1024, 1536, 1792, 2048, 2304, 3072, 4096, 8192})
    for (const double width : {1.0, 1.3, 1.7}) {
      std::vector<VectorStatistics> statistics;
      for (std::size_t i = 0; i < 2 * vectors; ++i) {
        std::vector<double> x(static_cast<std::size_t>(k));
        for (double& element : x) element = width * (random.uniform() - 0.5);
        statistics.push_back(vector_statistics(x.data(), 1, k));
      }
      const std::span all(statistics);
      std::vector<VectorProof> a(vectors), b(vectors);
      const ScalingRule rule = sqrt_rule<double>(Contract::fp64(), k).value();
      EXPECT_FALSE(choose_scales(rule, k, all.first(vectors), all.last(vectors), a, b).any_wide) << k << ' ' << width;
    }
}

// The budget of a contract is as large as its moduli allow: one sixteenth more would take another one.
TEST(OrdinaryModuli, AreUsedUpByTheBudget) {
  for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::normwise()}) {
    const double budget = scaling_rule<double>(contract, 4096).twice_norm_bits_16 / 16.0;
    const int count = ordinary_moduli<double>(contract, 4096);
    EXPECT_EQ(moduli_for(budget), count);
    EXPECT_GT(moduli_for(budget + 1.0 / 16), count) << contract.text();
  }
}

TYPED_TEST(BoundsTest, SqrtRuleHasTheScalesOfNormwiseAndAsksForMore) {
  for (const std::int64_t k : {1024, 1500, 4096, 1 << 20}) {
    const std::optional<ScalingRule> speculative = sqrt_rule<TypeParam>(Contract::fp64(), k);
    ASSERT_TRUE(speculative) << k;
    const ScalingRule normwise = scaling_rule<TypeParam>(Contract::normwise(), k);
    EXPECT_EQ(moduli_of(*speculative, k), ordinary_moduli<TypeParam>(Contract::normwise(), k));
    EXPECT_EQ(speculative->twice_norm_bits_16, normwise.twice_norm_bits_16);
    EXPECT_EQ(speculative->largest_exponent, normwise.largest_exponent);
    EXPECT_TRUE(speculative->componentwise);
    const double g = std::exp2(speculative->most_twice_log2_g / 2.0);
    EXPECT_LE(g, 32 * std::sqrt(static_cast<double>(k)));
    EXPECT_GE(g, 32 * std::sqrt(static_cast<double>(k) / 2));
  }
}

TYPED_TEST(BoundsTest, SqrtRuleIsForLongProductsUnderFp64ThatNeedNotRepeat) {
  EXPECT_FALSE(sqrt_rule<TypeParam>(Contract::fp64(), 1023));
  Contract reproducible = Contract::fp64();
  reproducible.reproducible = true;
  EXPECT_FALSE(sqrt_rule<TypeParam>(reproducible, 4096));
  for (const Contract& contract : contracts()) {
    if (contract.kind != Contract::Kind::fp64) {
      EXPECT_FALSE(sqrt_rule<TypeParam>(contract, 4096)) << contract.text();
    }
  }
}

// Integers within the bound cannot wrap to below what is certain. What is certain is as much as entries of random data
// need, at the least k of an octave, and a sixteenth of a bit more in the budget would leave less.
TEST(SpeculativeProduct, LeavesRoomForEntriesOfRandomDataAndNoMore) {
  const double product = std::exp2(log2_product_of_moduli(SpeculativeProduct::moduli));
  for (std::int64_t k = SpeculativeProduct::least_k; k <= SpeculativeProduct::most_k; k += 3) {
    const std::optional<SpeculativeProduct> speculative = speculative_product<double>(Contract::fp64(), k);
    ASSERT_TRUE(speculative) << k;
    const double norm = std::exp2(speculative->rule.twice_norm_bits_16 / 32.0) + std::sqrt(static_cast<double>(k)) / 2;
    const double room = 7 / std::sqrt(static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(k)))) * product;
    EXPECT_LT(norm * norm + speculative->certain, product) << k;
    EXPECT_GE(speculative->certain, room) << k;
    EXPECT_LT(product - norm * norm * std::exp2(1.0 / 16), room) << k;
    EXPECT_LE(speculative->largest_cosine * norm * norm, speculative->certain / 2) << k;
    EXPECT_LT(2 * std::log2(norm) + 1e-6, log2_bound_of(SpeculativeProduct::moduli + 1))
        << k << ": one modulus more holds all";
  }
}

TYPED_TEST(BoundsTest, SpeculativeProductsAreOfDoublesUnderFp64ThatNeedNotRepeat) {
  const std::int64_t k = SpeculativeProduct::least_k;
  EXPECT_EQ(speculative_product<TypeParam>(Contract::fp64(), k).has_value(), sizeof(TypeParam) == 8);
  EXPECT_FALSE(speculative_product<TypeParam>(Contract::fp64(), k - 1));
  EXPECT_FALSE(speculative_product<TypeParam>(Contract::fp64(), SpeculativeProduct::most_k + 1));
  Contract reproducible = Contract::fp64();
  reproducible.reproducible = true;
  EXPECT_FALSE(speculative_product<TypeParam>(reproducible, k));
  for (const Contract& contract : contracts()) {
    if (contract.kind != Contract::Kind::fp64) {
      EXPECT_FALSE(speculative_product<TypeParam>(contract, k)) << contract.text();
    }
  }
}

TYPED_TEST(BoundsTest, EveryContractHasModuliForEveryK) {
  for (const Contract& contract : contracts()) {
    int before = 0;
    for (std::int64_t k = 1; k <= std::int64_t{1} << 30; k *= 2) {
      const int count = ordinary_moduli<TypeParam>(contract, k);
      EXPECT_GE(count, std::max(2, before)) << contract.text() << ", k = " << k;
      EXPECT_LE(count, max_moduli);
      before = count;
    }
  }
}

TYPED_TEST(BoundsTest, RulesSayWhatTheContractsAsk) {
  for (const Contract& contract : contracts()) {
    const ScalingRule rule = scaling_rule<TypeParam>(contract, 4096);
    EXPECT_EQ(rule.unit_bits, contract.bits_asked);
    EXPECT_EQ(rule.componentwise, contract.kind != Contract::Kind::normwise);
    EXPECT_EQ(rule.precision, std::numeric_limits<TypeParam>::digits);
    EXPECT_EQ(std::ldexp(TypeParam{1}, rule.last_bit), std::numeric_limits<TypeParam>::denorm_min());
    EXPECT_LE(rule.largest_exponent, largest_exponent(max_limbs));
  }
  EXPECT_EQ(scaling_rule<TypeParam>(Contract::fp32(), 4096).largest_exponent, narrow_exponent);
}

// c = k 2^-n + u, also against norms.
TYPED_TEST(BoundsTest, PromisedBoundIsThatOfTheContract) {
  const double u = std::numeric_limits<TypeParam>::epsilon() / 2;
  for (const std::int64_t k : {1, 2, 100, 4096}) {
    for (const Contract& contract : contracts()) {
      const double expected = static_cast<double>(k) * std::exp2(-contract.bits_asked) + u;
      EXPECT_NEAR(std::exp2(log2_promised_bound<TypeParam>(contract, k)), expected, 1e-12 * expected);
    }
  }
}

mpz_class scaled_magnitude(double a, int scale) {  // at least |RN(a 2^scale)|, at most 1/2 more
  const mpz_class x = abs(exact_value(a));
  const int shift = scale + exact_unit;
  if (shift >= 0) return x << static_cast<unsigned long>(shift);
  mpz_class result = x + (mpz_class(1) << static_cast<unsigned long>(-shift - 1));
  mpz_fdiv_q_2exp(result.get_mpz_t(), result.get_mpz_t(), static_cast<mp_bitcnt_t>(-shift));
  return result;
}

// 2 max sum |a~ b~| <= P (1 - 2^-20) over the entries that the ordinary moduli serve.
template <class T>
void expect_moduli_suffice(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const std::string& name) {
  const std::int64_t k = a.columns();
  const ScalingRule rule = scaling_rule<T>(contract, 4096);
  const auto scaled = [&](const T* x, std::int64_t stride) {
    const int scale = ordinary_scale(rule, k, vector_statistics(x, stride, k));
    std::vector<mpz_class> v;
    for (std::int64_t l = 0; l < k; ++l) v.push_back(scaled_magnitude(static_cast<double>(x[l * stride]), scale));
    return v;
  };
  mpz_class product = 1;
  for (int q = 0; q < ordinary_moduli<T>(contract, k); ++q) product *= moduli[static_cast<std::size_t>(q)];
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const auto x = scaled(&a(i, 0), a.ld());
    for (std::int64_t j = 0; j < b.columns(); ++j) {
      const auto y = scaled(&b(0, j), 1);
      mpz_class sum = 0;
      for (std::size_t l = 0; l < x.size(); ++l) sum += x[l] * y[l];
      ASSERT_LE(cmp(mpz_class(sum << 21), mpz_class(product * ((1 << 20) - 1))), 0)
          << name << ", " << contract.text() << ", k = " << k;
    }
  }
}

TYPED_TEST(BoundsTest, OrdinaryModuliHoldTheIntegerProductOfEveryFamily) {
  for (const std::string& family : operand_families())
    for (const std::int64_t k : {1, 2, 17, 100})
      for (const Contract& contract : contracts()) {
        const Operands<TypeParam> o = make_operands<TypeParam>(family, 3, 3, k, 1);
        expect_moduli_suffice(contract, o.a, o.b, family);
        if (this->HasFatalFailure()) return;
      }
}

// Equal vectors of equal elements: the inequality of Cauchy and Schwarz is an equality there. The elements go through a
// whole binade, so that some come next to the budget.
TYPED_TEST(BoundsTest, OrdinaryModuliHoldTheIntegerProductOfEqualVectors) {
  for (const std::int64_t k : {1, 2, 3, 7, 31, 300})
    for (const Contract& contract : contracts())
      for (int step = 0; step < 64; ++step) {
        const auto value = static_cast<TypeParam>(2 - (step + 1) / 64.0);
        const TypeParam x = std::nextafter(value, TypeParam{2});
        const auto a = Matrix<TypeParam>::of(1, k, [&](auto, auto) { return x; });
        expect_moduli_suffice(contract, a, transposed(a), joined("equal elements ", x));
        if (this->HasFatalFailure()) return;
      }
}

// The largest norms that so many moduli hold: a sixteenth of two bits more asks for another.
TEST(Bounds, NormsAreAsLargeAsModuliHold) {
  for (const std::int64_t k : {1, 100, 4096, 1 << 20})
    for (int moduli = 15; moduli <= 24; ++moduli) {
      ScalingRule rule = with_norms_of(scaling_rule<double>(Contract::fp64(), k), moduli, k);
      EXPECT_EQ(moduli_of(rule, k), moduli) << k;
      EXPECT_GE(rule.largest_exponent + 1, rule.twice_norm_bits_16 / 32) << k;
      rule.largest_exponent = largest_exponent(max_limbs);
      rule.twice_norm_bits_16 += 2;
      EXPECT_GT(moduli_of(rule, k), moduli) << k;
    }
}

}  // namespace
}  // namespace vernier::test::bounds_test
