// What a product takes on a CPU, by estimate.
#pragma once

#include <type_traits>

#include "engine/int8_engine.hpp"
#include "number/complex.hpp"
#include "product/plan/native_cost.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"

namespace vernier {

// A product of complex matrices as the one real product that it amounts to.
template <class T>
ProductShape real_shape(const ProductShape& s) {
  return is_complex<T> ? ProductShape{2 * s.m, s.n, 2 * s.k} : s;
}

template <class T>
double cpu_residue_seconds(const ProductShape& shape, const Contract& contract, int threads) {
  constexpr double share = is_complex<T> ? 0.75 : 1;  // three of four products
  const ProductShape s = real_shape<T>(shape);
  const int moduli = ordinary_moduli<RealType<T>>(contract, s.k);
  return share * residue_seconds(preferred_int8_engine().name(), s, moduli, threads);
}

template <class T>
double cpu_native_seconds(const ProductShape& shape, int threads) {
  return native_seconds(real_shape<T>(shape), std::is_same_v<RealType<T>, float>, threads);
}

}  // namespace vernier
