// Products and quotients of real and complex numbers, in one fixed order of operations: std::complex leaves them to the
// compiler's library. In a nameless namespace, since sources of several instruction sets include it.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

namespace vernier {
namespace {

template <class T>
inline T times(T x, T y) {
  return x * y;
}
template <class R>
inline std::complex<R> times(std::complex<R> x, std::complex<R> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// x / divisor, for many x.
template <class T>
class Divisor {
 public:
  explicit Divisor(T divisor) : divisor_(divisor) {}
  T divide(T x) const { return x / divisor_; }

 private:
  T divisor_;
};

// By the reciprocal of divisor 2^-e, whose larger part lies in [1, 2), and a power of two in two halves.
template <class R>
class Divisor<std::complex<R>> {
 public:
  explicit Divisor(std::complex<R> divisor) {
    const R size = std::max(std::abs(divisor.real()), std::abs(divisor.imag()));
    const bool ordinary = std::isfinite(divisor.real()) && std::isfinite(divisor.imag()) && size > 0;
    const int e = ordinary ? std::ilogb(size) : 0;
    const R re = std::scalbn(divisor.real(), -e), im = std::scalbn(divisor.imag(), -e), square = re * re + im * im;
    reciprocal_ = {re / square, -im / square};
    first_ = std::scalbn(R{1}, -e / 2);
    second_ = std::scalbn(R{1}, -e - -e / 2);
  }
  std::complex<R> divide(std::complex<R> x) const {
    const std::complex<R> y = times(x, reciprocal_);
    return {y.real() * first_ * second_, y.imag() * first_ * second_};
  }

 private:
  std::complex<R> reciprocal_;
  R first_, second_;
};

}  // namespace
}  // namespace vernier
