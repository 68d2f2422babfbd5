// A product of elements by real products modulo each p. Real elements take one. Complex ones take three (Karatsuba): of
// real parts, of imaginary parts, and of the sums of both. Host and device.
#pragma once

#include <cstdint>

#include "number/host_device.hpp"
#include "number/moduli.hpp"

namespace vernier {

constexpr int real_products(int parts) { return parts == 2 ? 3 : 1; }

// x modulo p, symmetric, for x a sum of so many residues. Without branches: signs are as good as random.
template <int Terms>
VERNIER_HD constexpr int reduced(int x, int p) {
  for (int t = 1; t < Terms; t += 2) {
    x -= x > largest_residue(p) ? p : 0;
    x += x < smallest_residue(p) ? p : 0;
  }
  return x;
}

// What a real product multiplies of an element: of residues [part][moduli], those modulo p, which is the q-th.
VERNIER_HD constexpr int factor_residue(const std::int8_t* element, int moduli, int q, int p, int product) {
  return product < 2 ? element[product * moduli + q] : reduced<2>(element[q] + element[moduli + q], p);
}

struct ProductResidues {
  int real, imaginary;
};
VERNIER_HD constexpr ProductResidues complex_residues(int of_reals, int of_imaginaries, int of_sums, int p) {
  return {reduced<2>(of_reals - of_imaginaries, p), reduced<3>(of_sums - of_reals - of_imaginaries, p)};
}

}  // namespace vernier
