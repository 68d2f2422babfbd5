// The products that factorisations are made of.
#include "lapack/level3.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "product/native/native.hpp"
#include "support/random.hpp"

namespace vernier::test::level3_test {
namespace {

// Too short for residues: what bf16 parts refuse has the bits of the BLAS underneath. (A machine without AMX goes there
// at once.)
TEST(Level3, ShortProductsThatPartsRefuseGoNatively) {
  constexpr std::int64_t m = 1024, n = 900, k = 512;
  Random random(7);
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (std::vector<float>* x : {&a, &b, &c})
    for (float& element : *x) element = static_cast<float>(random.scattered(1));
  a[5] = 0x1p120f;  // and in the same row of A
  a[5 + 3 * m] = 0x1p-120f;
  std::vector<float> expected = c;
  Options options{.contract = Contract::fp32()};
  options.threads = 1;
  Level3<float>(options).subtract_product({Op::none, Op::none, m, n, k, -1, a.data(), m, b.data(), k, 1, c.data(), m});
  const NativeThreads one(1);
  native_gemm<float>({Op::none, Op::none, m, n, k, -1.0f, a.data(), m, b.data(), k, 1.0f, expected.data(), m}, 0);
  EXPECT_EQ(c, expected);
}

}  // namespace
}  // namespace vernier::test::level3_test
