// May the native product take over? The one place that says so; a plan asks once, and keeps the answer.
#pragma once

#include <limits>

#include "number/complex.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

enum class NativeUse {
  never,     // it does not keep the contract, or must not
  for_data,  // where the scheme does not hold the data, or memory fails: residues were asked for
  for_speed  // also where it is faster
};

// T is float, double or complex of these.
template <class T>
constexpr bool native_keeps(const Contract& contract) {
  return contract.kind != Contract::Kind::exact && contract.bits_asked <= std::numeric_limits<RealType<T>>::digits;
}

template <class T>
constexpr NativeUse native_use(const Contract& contract, bool residues_asked = false) {
  if (contract.reproducible || contract.fallback != Fallback::native || !native_keeps<T>(contract))
    return NativeUse::never;
  return residues_asked ? NativeUse::for_data : NativeUse::for_speed;
}

}  // namespace vernier
