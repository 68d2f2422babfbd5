// C = alpha T + beta C of one entry, in the roundings that vernier.hpp documents. Host and device.
#pragma once

#include <cmath>
#include <complex>

#include "number/complex.hpp"
#include "number/host_device.hpp"
#include "product/exact/entry.hpp"

namespace vernier {

// x y + z, each part with two fused roundings; x y - z and its like come by signs, which are exact.
template <class R>
VERNIER_HD std::complex<R> multiply_add(std::complex<R> x, std::complex<R> y, std::complex<R> z) {
  return {std::fma(x.real(), y.real(), std::fma(-x.imag(), y.imag(), z.real())),
          std::fma(x.real(), y.imag(), std::fma(x.imag(), y.real(), z.imag()))};
}

template <class R>
VERNIER_HD R multiply_add(R x, R y, R z) {
  return std::fma(x, y, z);
}

// A real factor does not meet the other part: 0 * inf must not make a NaN there.
template <class T>
VERNIER_HD T times(T x, T y) {
  if constexpr (is_complex<T>) {
    if (x.imag() == 0) return {x.real() * y.real(), x.real() * y.imag()};
    return {std::fma(x.real(), y.real(), -x.imag() * y.imag()), std::fma(x.real(), y.imag(), x.imag() * y.real())};
  } else {
    return x * y;
  }
}

// beta c in a direction of contract exact, whose beta is real.
template <class T>
T scaled_entry(T beta, T c, Rounding rounding) {
  if (rounding == Rounding::nearest) return times(beta, c);
  if constexpr (is_complex<T>)
    return {product_in_direction(beta.real(), c.real(), rounding),
            product_in_direction(beta.real(), c.imag(), rounding)};
  else
    return product_in_direction(beta, c, rounding);
}

template <class T>
VERNIER_HD T updated(T alpha, T product, T beta, const T& c) {  // c is not read where beta = 0
  if (beta == T{0}) return alpha == T{1} ? product : times(alpha, product);
  const T scaled = beta == T{1} ? c : times(beta, c);
  if constexpr (is_complex<T>)
    if (alpha.imag() == 0)
      return {std::fma(alpha.real(), product.real(), scaled.real()),
              std::fma(alpha.real(), product.imag(), scaled.imag())};
  return multiply_add(alpha, product, scaled);
}

}  // namespace vernier
