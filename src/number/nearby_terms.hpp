// Integers times powers of two that are near each other, added in one word before they go to a long sum. Host and
// device; includes only std.
#pragma once

#include <cstdint>

#include "number/host_device.hpp"

namespace vernier {

// sum * 2^unit, |sum| < 2^bits; before the first term any unit.
struct NearbyTerms {
  std::int64_t sum = 0;
  int unit = 0, bits = 0;

  // Adds x * 2^x_unit, |x| < 2^x_bits, if the word holds it; else returns false and changes nothing.
  VERNIER_HD constexpr bool add(std::int64_t x, int x_unit, int x_bits) {
    constexpr int most = 63;
    if (bits == 0) unit = x_unit;
    const int apart = unit - x_unit;
    const int own = bits + (apart > 0 ? apart : 0), other = x_bits + (apart < 0 ? -apart : 0);
    const int both = (own > other ? own : other) + 1;
    if (both > most) return false;
    if (apart > 0) {
      sum <<= apart;
      unit = x_unit;
    } else {
      x <<= -apart;
    }
    sum += x;
    bits = both;
    return true;
  }
};

}  // namespace vernier
