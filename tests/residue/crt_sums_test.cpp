// Sums of products by residues: exact in double, whatever four residues a modulus bring.
#include <gtest/gtest.h>

#include "residue/recombine/crt.hpp"

namespace vernier::crt_sums_test {
namespace {

template <int Limbs>
void sums_are_exact(int count) {
  const CrtTables<Limbs, summed_limb_width<Limbs>> tables(residue_system(count));
  for (int l = 0; l < Limbs; ++l) {
    double most = 0, most_kappa = 1;
    for (int g = 0; g < tables.pairs; ++g) {
      const std::uint32_t a = tables.pair[g] >> 16, b = tables.pair[g] & 0xffff;
      const double u = most_summed_products * 128.0 * (a + b);
      ASSERT_LT(u, 0x1p18);
      most += u * tables.weight[g][l];
      most_kappa += u / (a > 0 ? a * b : moduli[static_cast<std::size_t>(count - 1)]);
    }
    EXPECT_LT(most + most_kappa * tables.product[l], 0x1p53) << count << " moduli, limb " << l;
  }
}

TEST(DeviceCrtSums, OfFourProductsAreExact) {
  for (const int count : {13, 14}) sums_are_exact<3>(count);
  for (const int count : {15, 16, 17, 18}) sums_are_exact<4>(count);
  sums_are_exact<5>(19);
}

}  // namespace
}  // namespace vernier::crt_sums_test
