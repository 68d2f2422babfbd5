#include "engine/reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/cpu_features.hpp"
#if VERNIER_X86
#include "avx512_under_test.hpp"
#endif

namespace vernier::test::reduction_test {
namespace {

// Sums that a product of length k can have: its ends, random ones, and those next to the midpoints of multiples of p.
void fill_sums(std::mt19937_64& generator, int modulus, std::int64_t k, std::int32_t* sums) {
  const std::int64_t most = k * smallest_residue(modulus) * smallest_residue(modulus);
  const std::int64_t least = k * smallest_residue(modulus) * largest_residue(modulus);
  std::uniform_int_distribution<std::int64_t> any(least, most);
  for (int i = 0; i < unit_elements; ++i) {
    std::int64_t x = any(generator);
    if (i % 2 == 1)
      x = x / modulus * modulus + (i % 4 == 1 ? largest_residue(modulus) : smallest_residue(modulus)) + i % 8 / 4;
    sums[i] = static_cast<std::int32_t>(std::clamp(x, least, most));
  }
  sums[0] = static_cast<std::int32_t>(least);
  sums[2] = static_cast<std::int32_t>(most);
}

// Calls reduce(sums, modulus, k, accumulate, out) on all kinds of units and looks at every residue.
template <class Reduce>
void expect_exact(Reduce reduce) {
  std::mt19937_64 generator(5);
  alignas(64) std::int32_t sums[unit_elements];
  alignas(64) std::int8_t out[unit_elements], old[unit_elements];
  for (const int modulus : moduli)
    for (const std::int64_t k : {64, 512, 1024, 1088, 4096, 32768})
      for (int repetition = 0; repetition < 50; ++repetition) {
        fill_sums(generator, modulus, k, sums);
        std::uniform_int_distribution<int> residue(smallest_residue(modulus), largest_residue(modulus));
        for (std::int8_t& x : old) x = static_cast<std::int8_t>(residue(generator));
        std::copy_n(old, unit_elements, out);
        const bool accumulate = repetition % 2 == 1;
        reduce(sums, modulus, k, accumulate, out);
        for (int j = 0; j < 4; ++j)
          for (int i = 0; i < 16; ++i) {
            const int at = residue_index(i, j);
            const std::int64_t x = static_cast<std::int64_t>(sums[16 * j + i]) + (accumulate ? old[at] : 0);
            ASSERT_EQ(out[at], symmetric_residue(x, modulus)) << x << " modulo " << modulus << ", k = " << k;
          }
      }
}

TEST(Reduction, OfOneSumIsExact) {
  expect_exact([](const std::int32_t* sums, int modulus, std::int64_t, bool accumulate, std::int8_t* out) {
    reduce_unit(sums, make_reduction(modulus), accumulate, out);
  });
}

TEST(Reduction, OfTheEndsOfInt32IsExact) {
  constexpr std::int64_t least = INT32_MIN, most = INT32_MAX;
  for (const int modulus : moduli) {
    const Reduction reduction = make_reduction(modulus);
    for (std::int64_t d = 0; d <= 600; ++d)
      for (const std::int64_t x : {least + d, -d, d, most - d})
        ASSERT_EQ(reduce(static_cast<std::int32_t>(x), reduction), symmetric_residue(x, modulus))
            << x << ' ' << modulus;
  }
}

// Near every midpoint, where the quotient is decided: the claim of fp32_quotient_is_exact at the longest k it grants.
TEST(Reduction, NearestQuotientInFp32IsExactWhereClaimed) {
  for (const int modulus : moduli) {
    if (modulus == 256) continue;
    std::int64_t k = 64;
    while (k < max_product_k && fp32_quotient_is_exact(modulus, k + 64)) k += 64;
    ASSERT_TRUE(fp32_quotient_is_exact(modulus, k)) << modulus;
    const float inverse = 1.0f / static_cast<float>(modulus);
    const auto largest = static_cast<std::int32_t>(k * largest_residue(modulus) * largest_residue(modulus));
    for (std::int32_t q = largest / modulus; q >= 0; --q)
      for (int side = 0; side < 2; ++side) {
        const std::int32_t x = q * modulus + largest_residue(modulus) + side;
        if (x > largest) continue;
        ASSERT_EQ(std::nearbyint(static_cast<double>(x) * inverse), q + side) << x << " / " << modulus;
      }
  }
}

#if VERNIER_X86
TEST(Reduction, OfSixteenSumsIsExact) {
  const std::string missing = missing_features(InstructionSet::avx512_vnni);
  if (!missing.empty())
    GTEST_SKIP() << "NOT TESTED: the vector reduction needs AVX-512; this machine lacks " << missing;
  expect_exact(reduce_unit_avx512);
}
#endif

}  // namespace
}  // namespace vernier::test::reduction_test
