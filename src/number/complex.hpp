// Complex types beside their real ones.
#pragma once

#include <complex>

namespace vernier {

template <class T>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<std::complex<R>> = true;

template <class T>
struct RealTypeOf {
  using type = T;
};
template <class R>
struct RealTypeOf<std::complex<R>> {
  using type = R;
};
template <class T>
using RealType = typename RealTypeOf<T>::type;

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

}  // namespace vernier
