// The promise of a Contract, held against the exact product: every entry, decided in integers.
#pragma once

#include <string>

#include "support/exact.hpp"
#include "support/matrix.hpp"

namespace vernier::test {

// "" if T = result keeps the bound that vernier.hpp states for the contract, else the first entry that does not:
//
//   |T - AB| <= c |A||B|  (normwise: c |A_i|_2 |B_j|_2)  + u32 |T| if T is float  + half the smallest subnormal number
//
// the last only where T is zero, subnormal or the smallest normal number: no relative bound can hold there. T may be an
// infinity where a number within c |A||B| of AB rounds to that infinity.
template <class T>
std::string broken_bound(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const ExactProduct<T>& exact,
                         const Matrix<T>& result);

template <class T>
std::string broken_bound(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& result) {
  return broken_bound(contract, a, b, ExactProduct<T>(a, b), result);
}

}  // namespace vernier::test
