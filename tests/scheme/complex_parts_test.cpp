#include "scheme/complex_parts.hpp"

#include <numeric>
#include <vector>

#include "backends.hpp"
#include "support/random.hpp"

namespace vernier::test {
namespace {

using Parts = decltype(&complex_parts_portable);

constexpr std::size_t part_bytes = 3 * block_elements / 2;

// Modulo every p: all pairs of xu and yv, each with a few values of the third product.
void expect_parts(Parts complex_parts) {
  Random random(1);
  for (const int p : moduli) {
    const int least = smallest_residue(p), most = largest_residue(p);
    std::vector<std::int8_t> products(3 * part_bytes + block_elements), real(block_elements), imaginary(block_elements);
    std::vector<int> xu, yv, sums;
    for (int u = least; u <= most; ++u)
      for (int v = least; v <= most; ++v) {
        xu.push_back(u), yv.push_back(v);
        sums.push_back((u + v) % 3 == 0   ? least
                       : (u + v) % 3 == 1 ? most
                                          : static_cast<int>(random.integer(least, most)));
      }
    for (std::size_t begin = 0; begin < xu.size(); begin += block_elements) {
      const std::size_t count = std::min<std::size_t>(block_elements, xu.size() - begin);
      for (std::size_t e = 0; e < count; ++e) {
        products[e] = static_cast<std::int8_t>(xu[begin + e]);
        products[part_bytes + e] = static_cast<std::int8_t>(yv[begin + e]);
        products[2 * part_bytes + e] = static_cast<std::int8_t>(sums[begin + e]);
      }
      complex_parts(p, products.data(), part_bytes, real.data(), imaginary.data());
      for (std::size_t e = 0; e < count; ++e) {
        const int u = xu[begin + e], v = yv[begin + e], s = sums[begin + e];
        ASSERT_EQ(real[e], symmetric_residue(u - v, p)) << u << " - " << v << " modulo " << p;
        ASSERT_EQ(imaginary[e], symmetric_residue(s - u - v, p)) << s << " - " << u << " - " << v << " modulo " << p;
      }
    }
  }
}

TEST(ComplexParts, PortableAreDifferencesModuloEveryP) { expect_parts(complex_parts_portable); }
TEST(ComplexParts, Avx512AreDifferencesModuloEveryP) {
  VERNIER_NEEDS_AVX512(double);
  expect_parts(avx512_backend<double>()->complex_parts);
}

// (3 + 4i)(5 - 2i) = 23 + 14i: the three products are 15, -8 and 7 * 3.
TEST(ComplexParts, GiveASmallProduct) {
  std::vector<std::int8_t> products(3 * part_bytes, 0), real(block_elements), imaginary(block_elements);
  products[7] = 15, products[part_bytes + 7] = -8, products[2 * part_bytes + 7] = 21;
  complex_parts_portable(251, products.data(), part_bytes, real.data(), imaginary.data());
  EXPECT_EQ(real[7], 23);
  EXPECT_EQ(imaginary[7], 14);
}

}  // namespace
}  // namespace vernier::test
