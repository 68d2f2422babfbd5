// One level of Winograd's form of Strassen's algorithm: C = A B in halves of rows, columns and k by seven products of
// sums of quarters. Modulo p it is exact, and has 7/8 of the operations.
//
// A quarter of an operand is numbered 2 (half of its vectors) + (half of k), one of C 2 (half of rows) + (half of
// columns).
#pragma once

#include <cstdint>

namespace vernier {

inline constexpr int winograd_products = 7, quarters = 4;

// What each product takes of the quarters of A and of B, and what each quarter of C takes of the products.
inline constexpr std::int8_t winograd_a[winograd_products][quarters] = {
    {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, -1, -1}, {0, 0, 0, 1}, {0, 0, 1, 1}, {-1, 0, 1, 1}, {1, 0, -1, 0}};
inline constexpr std::int8_t winograd_b[winograd_products][quarters] = {
    {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}, {1, -1, -1, 1}, {-1, 0, 1, 0}, {1, 0, -1, 1}, {0, 0, -1, 1}};
inline constexpr std::int8_t winograd_c[quarters][winograd_products] = {
    {1, 1, 0, 0, 0, 0, 0}, {1, 0, 1, 0, 1, 1, 0}, {1, 0, 0, -1, 0, 1, 1}, {1, 0, 0, 0, 1, 1, 1}};

// The signs of a sum by themselves: how many more are added than taken away; from 0 to 2.
constexpr int winograd_net(const std::int8_t (&signs)[quarters]) {
  int net = 0;
  for (const std::int8_t sign : signs) net += sign;
  return net;
}

// As many as the recombination has in four limbs (recombine/crt.hpp).
inline constexpr int most_winograd_moduli = 19;

}  // namespace vernier
