// Elements in quanta of their vector's largest, as the CPU's statistics have them.
#pragma once

#include "number/ieee754.hpp"
#include "product/flatness.hpp"

namespace vernier::cuda {

// ceil(|x| 2^(quantum_bits - exponent)), as vector_statistics has it.
template <class T>
__device__ __forceinline__ std::uint32_t quantised_finite(T x, const TwoFactors& scale) {
  const double y = fabs(static_cast<double>(x)) * scale.first * scale.second;
  return static_cast<std::uint32_t>(__double2loint(__dadd_ru(y, 0x1p52)));
}

// The same, 0 if x is not finite.
template <class T>
__device__ __forceinline__ std::uint32_t quantised(T x, const TwoFactors& scale) {
  return magnitude_bits(x) < infinity_bits<T> ? quantised_finite(x, scale) : 0;
}

}  // namespace vernier::cuda
