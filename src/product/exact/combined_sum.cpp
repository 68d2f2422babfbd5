#include "product/exact/combined_sum.hpp"

#include <bit>
#include <limits>

#include "base/instantiate.hpp"
#include "product/exact/entry.hpp"

namespace vernier {

template <class T>
std::optional<T> combined_interval(LongAccumulator sum, Uint128 radius, int exponent, T alpha, T beta, const T* c,
                                   Rounding rounding) {
  using Bits = typename Ieee754<T>::Bits;
  std::array<T, 2> ends;
  for (const bool up : {false, true}) {
    LongAccumulator end = sum;
    add_fixed(end, !up, radius, exponent);
    if (!std::isfinite(alpha)) {
      ends[up ? 1 : 0] = combined_special(static_cast<T>(end.sign()), alpha, beta, c);
      if (std::isnan(ends[up ? 1 : 0])) ends[up ? 1 : 0] = std::numeric_limits<T>::quiet_NaN();
      continue;
    }
    end.multiply(static_cast<double>(alpha));
    if (beta != 0) end.add_product(static_cast<double>(beta), static_cast<double>(*c));
    ends[up ? 1 : 0] = end.rounded<T>(rounding);
    if (radius == 0) return ends[0];
  }
  if (std::bit_cast<Bits>(ends[0]) != std::bit_cast<Bits>(ends[1])) return std::nullopt;
  return ends[0];
}

template <class T>
T combined_sum(const LongAccumulator& sum, T alpha, T beta, const T* c, Rounding rounding) {
  if (std::isfinite(alpha) && !finite_update(beta, c)) return beta * *c;
  return *combined_interval(sum, 0, 0, alpha, beta, c, rounding);
}

VERNIER_REAL_INSTANCES(combined_interval, combined_sum)

}  // namespace vernier
