// The kernels of Strassen-Winograd, thread by thread on the host, against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/launch.hpp"
#include "residue/convert/winograd.cuh"

namespace vernier::cuda::winograd_test {
namespace {

struct Shape {
  std::int64_t vectors, k;
  bool along;  // k is contiguous
  int side, moduli, words = 2;
  bool balanced = false;
};

template <class T>
std::vector<T> random_elements(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> x(count);
  for (T& v : x)
    v = static_cast<T>(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63,
                                  static_cast<int>(random() % 40) - 20));
  return x;
}

template <class T>
void sums_have_the_residues_of_sums(const Shape& s) {
  const std::int64_t ld = (s.along ? s.k : s.vectors) + 3;
  const auto x = random_elements<T>(static_cast<std::size_t>(ld * (s.along ? s.vectors : s.k)));
  std::mt19937_64 random(5);
  std::vector<int> scales(static_cast<std::size_t>(s.vectors));
  // Elements of three words: some vectors have third words, some do not.
  for (int& scale : scales) scale = static_cast<int>(random() % 30) + (s.words == 3 ? 42 : 10);
  const std::int64_t half = half_vectors(s.vectors), half_k = half_depth(s.k);
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(s.moduli * winograd_products * half * half_k), 77);
  std::vector<std::int8_t> balance(static_cast<std::size_t>(s.k));
  for (std::int8_t& e : balance) e = static_cast<std::int8_t>(s.balanced ? static_cast<int>(random() % 9) - 4 : 0);
  DeviceOperand<T> operands[2];
  for (int side = 0; side < 2; ++side)
    operands[side] = {
        {x.data(), side == s.side ? s.vectors : 0, s.k, ld, s.along}, nullptr, scales.data(), planes.data()};
  if (s.balanced) operands[s.side].x.balance = balance.data();
  operands[s.side].x.balance_sign = s.side == 0 ? 1 : -1;
  const ConversionForm form{.moduli = s.moduli, .words = s.words, .form = ByteForm::natural};
  if (s.words == 3)
    launch_winograd<T, 3>(operands[0], operands[1], form, nullptr);
  else
    launch_winograd<T, 2>(operands[0], operands[1], form, nullptr);
  for (int row = 0; row < s.moduli * winograd_products; ++row)
    for (std::int64_t v = 0; v < half; ++v)
      for (std::int64_t l = 0; l < half_k; ++l) {
        std::int64_t sum = 0;  // of residues
        const int product = row % winograd_products, p = moduli[static_cast<std::size_t>(row / winograd_products)];
        for (int c = 0; c < quarters; ++c) {
          const std::int64_t vector = v + c / 2 * half, at = l + c % 2 * half_k;
          if (vector >= s.vectors || at >= s.k) continue;
          const int exponent = balance[static_cast<std::size_t>(at)] * (s.side == 0 ? 1 : -1);
          const double element = std::nearbyint(std::ldexp(static_cast<double>(*operands[s.side].x.at(vector, at)),
                                                           scales[static_cast<std::size_t>(vector)] + exponent));
          sum += (s.side == 0 ? winograd_a : winograd_b)[product][c] * static_cast<std::int64_t>(std::fmod(element, p));
        }
        const int got = planes[static_cast<std::size_t>((row * half + v) * half_k + l)];
        ASSERT_EQ((sum - got) % p, 0) << "modulus " << p << ", product " << product << ", vector " << v << ", k " << l;
      }
}

TEST(ConvertWinograd, AlongK) {
  sums_have_the_residues_of_sums<double>({100, 300, true, 0, 15});
  sums_have_the_residues_of_sums<double>({70, 515, true, 1, 16});
}

TEST(ConvertWinograd, OfThreeWords) {
  sums_have_the_residues_of_sums<double>({70, 300, true, 1, 19, 3});
  sums_have_the_residues_of_sums<double>({37, 131, false, 0, 17, 3});
}

TEST(ConvertWinograd, OfBalancedOperands) {
  sums_have_the_residues_of_sums<double>({34, 290, true, 0, 14, 2, true});
  sums_have_the_residues_of_sums<double>({37, 131, false, 1, 13, 2, true});
}

TEST(ConvertWinograd, AcrossVectors) {
  sums_have_the_residues_of_sums<double>({77, 131, false, 1, 14});
  sums_have_the_residues_of_sums<float>({70, 200, false, 0, 15});
}

}  // namespace
}  // namespace vernier::cuda::winograd_test
