#include "product/scale.hpp"

#include <algorithm>
#include <bit>
#include <complex>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "product/elements.cuh"
#include "product/exact/entry.hpp"
#include "product/update.hpp"

namespace vernier::cuda {
namespace {

constexpr int scale_threads = 128;

template <class T>
__global__ void __launch_bounds__(scale_threads)
    scale_matrix(std::int64_t m, std::int64_t n, DeviceFactor<T> factor, T* c, std::int64_t ldc, Rounding rounding) {
  const T beta = value_of(factor);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * scale_threads;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * scale_threads + threadIdx.x; at < m * n; at += step) {
    T& element = c[at % m + at / m * ldc];
    element = beta == 0 ? T{0} : product_in_direction(beta, element, rounding);
  }
}

template <class R>
struct Pair {
  R re, im;

  __device__ bool operator==(int) const { return re == 0 && im == 0; }  // to 0
  __device__ Pair operator*(const Pair& x) const { return {re * x.re - im * x.im, re * x.im + im * x.re}; }
};
template <class T>
struct ElementOf {
  using type = T;
};
template <class R>
struct ElementOf<std::complex<R>> {
  using type = Pair<R>;
};

template <class T>
__device__ bool is_minus_zero(const T& x) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < sizeof(T) / sizeof bits; ++i) bits |= reinterpret_cast<const unsigned*>(&x)[i];
  return x == 0 && bits != 0;
}

template <class T>
__global__ void __launch_bounds__(scale_threads) keep_matrices(FactoredC<T> x, T* kept, bool behind) {
  const T beta = *x.beta;
  const bool reads = !(*x.alpha == 0);
  if (reads && (behind || !is_minus_zero(beta))) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * scale_threads, area = x.m * x.n;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * scale_threads + threadIdx.x; at < area * x.count;
       at += step) {
    const std::int64_t matrix = at / area, place = at - matrix * area;
    T* const c = x.addresses != nullptr ? x.addresses[matrix] : x.c + matrix * x.stride;
    T& element = c[place % x.m + place / x.m * x.ld];
    if (reads)
      element = T{};
    else if (behind)
      element = kept[at];
    else
      kept[at] = beta == 0 ? T{} : beta * element;
  }
}

template <class T>
__global__ void update_elements(Elements size, DeviceFactor<T> alpha, const T* t, std::int64_t ldt,
                                DeviceFactor<T> beta, T* c, std::int64_t ldc) {
  const T a = value_of(alpha), b = value_of(beta);
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    T& out = c[i + j * ldc];
    if (a == T{0})  // found out only here: T may hold a NaN that is not wanted
      out = b == T{0} ? T{0} : times(b, out);
    else
      out = updated(a, t[i + j * ldt], b, out);
  });
}

unsigned blocks_for(std::int64_t elements) {
  constexpr std::int64_t most_blocks = 4096;
  return static_cast<unsigned>(std::min(most_blocks, divide_up(elements, std::int64_t{scale_threads})));
}

}  // namespace

template <class T>
void update_on_device(const Elements& size, const DeviceFactor<T>& alpha, const T* t, std::int64_t ldt,
                      const DeviceFactor<T>& beta, T* c, std::int64_t ldc, cudaStream_t stream) {
  launch_elements("update_elements", update_elements<T>, size, stream, alpha, t, ldt, beta, c, ldc);
}

template <class T>
void keep_where_alpha_is_zero(const FactoredC<T>& x, T* kept, bool behind, cudaStream_t stream) {
  using Element = typename ElementOf<T>::type;
  launch("keep_matrices", keep_matrices<Element>,
         {.grid = dim3(blocks_for(x.m * x.n * x.count)), .block = dim3(scale_threads)}, stream,
         std::bit_cast<FactoredC<Element>>(x), reinterpret_cast<Element*>(kept), behind);
}

template <class T>
void scale_on_device(std::int64_t m, std::int64_t n, const DeviceFactor<T>& beta, T* c, std::int64_t ldc,
                     Rounding rounding, cudaStream_t stream) {
  launch("scale_matrix", scale_matrix<T>, {.grid = dim3(blocks_for(m * n)), .block = dim3(scale_threads)}, stream, m, n,
         beta, c, ldc, rounding);
}

VERNIER_REAL_INSTANCES(scale_on_device)
VERNIER_TYPE_INSTANCES(keep_where_alpha_is_zero, update_on_device)

}  // namespace vernier::cuda
