// The one of four values that belongs to a type.
#pragma once

#include <complex>
#include <type_traits>

namespace vernier {

template <class T, class S, class D, class C, class Z>
constexpr auto of_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return c;
  else
    return z;
}

}  // namespace vernier
