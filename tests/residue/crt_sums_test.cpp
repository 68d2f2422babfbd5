// Sums of products modulo two p at once, over all that four residues a modulus can make.
#include "residue/recombine/crt.hpp"

#include <gtest/gtest.h>

namespace vernier::crt_sums_test {
namespace {

TEST(DeviceCrtSums, AreCongruentAndSmall) {
  for (const int count : {14, 15, 16})
    for (int g = 0; 2 * g < count; ++g) {
      const int a = moduli[static_cast<std::size_t>(2 * g)],
                b = 2 * g + 1 < count ? moduli[static_cast<std::size_t>(2 * g + 1)] : 1;
      const PairReduction r = pair_reduction(count, g);
      const int most = most_summed_products * 128 * (a + b);
      for (int u = -most; u <= most; u += u % 5 == 0 ? 1 : 3) {
        const double x = exact_sum(r.start + u, r);
        const auto whole = static_cast<std::int64_t>(x);
        ASSERT_EQ(static_cast<double>(whole), x);
        ASSERT_EQ((whole - u) % (a * b), 0) << u << " modulo " << a << " * " << b;
        ASSERT_LE(std::abs(2 * whole), a * b + 1) << u << " modulo " << a << " * " << b;
      }
    }
}

}  // namespace
}  // namespace vernier::crt_sums_test
