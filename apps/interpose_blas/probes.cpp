// The functions by which libblastrampoline, Julia's switch between BLAS libraries, tells what a library is, so that
// BLAS.lbt_forward takes this one: names that end in 64_, integers of 64 bits, complex results by value. They are
// handed on; only where no library underneath has them, as while nothing else is loaded, they are computed here.
#include <cmath>
#include <complex>
#include <cstdint>

#include "original.hpp"

namespace vernier::interpose {
namespace {

using Int = std::int64_t;

template <class T>
struct Pair {  // returned as a complex number of T is
  T re, im;
};

// The first of n elements, as BLAS counts them where the step is negative.
Int first(Int n, Int step) { return step < 0 ? (1 - n) * step : 0; }

float size(float x) { return std::fabs(x); }

Int largest(Int n, const float* x, Int step) {
  if (n < 1 || step < 1) return 0;
  Int best = 0;
  for (Int i = 1; i < n; ++i)
    if (size(x[i * step]) > size(x[best * step])) best = i;
  return best + 1;
}

template <class T, class Product>
T sum(Int n, const T* x, Int step_x, const T* y, Int step_y, Product product) {
  T total{};
  Int i = first(n, step_x), j = first(n, step_y);
  for (Int count = 0; count < n; ++count, i += step_x, j += step_y) total += product(x[i], y[j]);
  return total;
}

template <class Function>
Function underneath(const char* name) {
  return reinterpret_cast<Function>(original(name));
}

// A library that returns complex numbers by an argument before these, as MKL does, has six: all are handed on.
template <class T>
Pair<T> conjugated(const char* name, const Int* n, const std::complex<T>* x, const Int* step_x,
                   const std::complex<T>* y, const Int* step_y, const void* sixth) {
  using Dotc =
      Pair<T> (*)(const Int*, const std::complex<T>*, const Int*, const std::complex<T>*, const Int*, const void*);
  static const auto real = underneath<Dotc>(name);
  if (real != nullptr) return real(n, x, step_x, y, step_y, sixth);
  const std::complex<T> total =
      sum(*n, x, *step_x, y, *step_y, [](const auto& a, const auto& b) { return std::conj(a) * b; });
  return {total.real(), total.imag()};
}

}  // namespace
}  // namespace vernier::interpose

using namespace vernier::interpose;

#define VERNIER_ENTRY extern "C" __attribute__((visibility("default")))

VERNIER_ENTRY Int isamax_64_(const Int* n, const float* x, const Int* step) {
  static const auto real = underneath<Int (*)(const Int*, const float*, const Int*)>("isamax_64_");
  return real != nullptr ? real(n, x, step) : largest(*n, x, *step);
}

VERNIER_ENTRY float sdot_64_(const Int* n, const float* x, const Int* step_x, const float* y, const Int* step_y) {
  static const auto real =
      underneath<float (*)(const Int*, const float*, const Int*, const float*, const Int*)>("sdot_64_");
  if (real != nullptr) return real(n, x, step_x, y, step_y);
  return sum(*n, x, *step_x, y, *step_y, [](float a, float b) { return a * b; });
}

VERNIER_ENTRY Pair<float> cdotc_64_(const Int* n, const std::complex<float>* x, const Int* step_x,
                                    const std::complex<float>* y, const Int* step_y, const void* sixth) {
  return conjugated("cdotc_64_", n, x, step_x, y, step_y, sixth);
}

VERNIER_ENTRY Pair<double> zdotc_64_(const Int* n, const std::complex<double>* x, const Int* step_x,
                                     const std::complex<double>* y, const Int* step_y, const void* sixth) {
  return conjugated("zdotc_64_", n, x, step_x, y, step_y, sixth);
}
