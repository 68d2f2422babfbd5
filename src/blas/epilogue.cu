// Bias, activation and their gradients: one pass over the product.
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "product/device_memory.hpp"
#include "product/elements.cuh"
#include "vernier/cuda_epilogue.hpp"

namespace vernier::cuda {
namespace {

constexpr int sum_threads = 256, row_group = 32;

template <class T>
struct Constants {
  static constexpr T outer = T(0.79788456080286535588), cubic = T(0.044715);  // sqrt(2 / pi)
};

template <class T>
__device__ T gelu(T x) {
  return T(0.5) * x * (T(1) + tanh(Constants<T>::outer * (x + Constants<T>::cubic * x * x * x)));
}

template <class T>
__device__ T gelu_slope(T x) {
  const T square = Constants<T>::cubic * x * x;
  const T t = tanh(Constants<T>::outer * x * (T(1) + square));
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * Constants<T>::outer * (T(1) + T(3) * square);
}

template <class T>
__global__ void activate_elements(Elements size, Activation f, const T* bias, T* d, std::int64_t ldd, T* before,
                                  std::int64_t ld_before) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    T& out = d[i + j * ldd];
    const T x = bias != nullptr ? out + bias[i] : out;
    if (before != nullptr) before[i + j * ld_before] = x;
    out = f == Activation::relu ? (x < T(0) ? T(0) : x) : f == Activation::gelu ? gelu(x) : x;
  });
}

// A thread for a byte of signs, and the eight rows of a column that it is about.
template <class T>
__global__ void relu_of_eight(Elements bytes, bool gradient, std::int64_t m, const T* bias, T* d, std::int64_t ldd,
                              unsigned char* signs, std::int64_t ld_signs) {
  for_each_element(bytes, [&](std::int64_t i, std::int64_t j) {
    unsigned char& byte = signs[i + j * (ld_signs / 8)];
    const unsigned given = byte;
    unsigned kept = given;  // bits of no row stay
    for (int bit = 0; bit < 8 && 8 * i + bit < m; ++bit) {
      T& out = d[8 * i + bit + j * ldd];
      const T x = bias != nullptr ? out + bias[8 * i + bit] : out;
      if (gradient ? (given >> bit & 1) == 0 : x < T(0)) {
        kept &= ~(1U << bit);
        out = T(0);
      } else {
        kept |= 1U << bit;
        out = x;
      }
    }
    if (!gradient) byte = static_cast<unsigned char>(kept);
  });
}

template <class T>
__global__ void scale_by_slopes(Elements size, T* d, std::int64_t ldd, const T* x, std::int64_t ldx) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) { d[i + j * ldd] *= gelu_slope(x[i + j * ldx]); });
}

// A block for 32 rows: its warps take columns in turn.
template <class T>
__global__ void sum_rows(Elements size, const T* x, std::int64_t ldx, T* sums) {
  constexpr int warps = sum_threads / row_group;
  __shared__ double partial[warps][row_group];
  const int lane = static_cast<int>(threadIdx.x) % row_group, warp = static_cast<int>(threadIdx.x) / row_group;
  const std::int64_t i = std::int64_t{blockIdx.x} * row_group + lane;
  double sum = 0;
  if (i < size.rows)
    for (std::int64_t j = warp; j < size.columns; j += warps) sum += static_cast<double>(x[i + j * ldx]);
  partial[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || i >= size.rows) return;
  for (int w = 1; w < warps; ++w) sum += partial[w][lane];
  sums[i] = static_cast<T>(sum);
}

// A block for a column.
template <class T>
__global__ void sum_columns(Elements size, const T* x, std::int64_t ldx, T* sums) {
  __shared__ double partial[sum_threads];
  const std::int64_t j = blockIdx.x;
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < size.rows; i += sum_threads) sum += static_cast<double>(x[i + j * ldx]);
  partial[threadIdx.x] = sum;
  for (int half = sum_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[j] = static_cast<T>(partial[0]);
}

void check_matrix(const char* routine, const char* name, std::int64_t m, std::int64_t n, const void* data,
                  std::int64_t ld) {
  constexpr std::int64_t most_blocks = 2147483647;
  require(m >= 0 && n >= 0 && n <= most_blocks, "{}: {} x {}: expected sizes from 0 on, of at most {} columns", routine,
          m, n, most_blocks);
  require(data != nullptr || m == 0 || n == 0, "{}: {} is null", routine, name);
  require(ld >= std::max<std::int64_t>(m, 1), "{}: leading dimension of {}: {}; expected at least {}", routine, name,
          ld, std::max<std::int64_t>(m, 1));
}

}  // namespace

template <class T>
void activate(Activation f, std::int64_t m, std::int64_t n, const T* bias, T* D, std::int64_t ldd, T* before,
              std::int64_t ld_before, void* stream) {
  require(f == Activation::none || f == Activation::relu || f == Activation::gelu,
          "activate: expected Activation::none, relu or gelu");
  check_matrix("activate", "D", m, n, D, ldd);
  if (before != nullptr) check_matrix("activate", "before", m, n, before, ld_before);
  if (m == 0 || n == 0) return;
  launch_elements("activate", activate_elements<T>, {m, n}, static_cast<cudaStream_t>(stream), f, bias, D, ldd, before,
                  ld_before);
}

template <class T>
void relu_with_signs(bool gradient, std::int64_t m, std::int64_t n, const T* bias, T* D, std::int64_t ldd,
                     unsigned char* signs, std::int64_t ld_signs, void* stream) {
  check_matrix("relu_with_signs", "D", m, n, D, ldd);
  check_matrix("relu_with_signs", "signs", m, n, signs, ld_signs);
  require(ld_signs % 8 == 0, "relu_with_signs: leading dimension of signs: {}; expected a multiple of 8", ld_signs);
  if (m == 0 || n == 0) return;
  launch_elements("relu_with_signs", relu_of_eight<T>, {(m + 7) / 8, n}, static_cast<cudaStream_t>(stream), gradient, m,
                  bias, D, ldd, signs, ld_signs);
}

template <class T>
void gelu_gradient(std::int64_t m, std::int64_t n, T* D, std::int64_t ldd, const T* X, std::int64_t ldx, void* stream) {
  check_matrix("gelu_gradient", "D", m, n, D, ldd);
  check_matrix("gelu_gradient", "X", m, n, X, ldx);
  if (m == 0 || n == 0) return;
  launch_elements("gelu_gradient", scale_by_slopes<T>, {m, n}, static_cast<cudaStream_t>(stream), D, ldd, X, ldx);
}

template <class T>
void sum_up(bool rows, std::int64_t m, std::int64_t n, const T* X, std::int64_t ldx, T* sums, void* stream) {
  check_matrix("sum_up", "X", m, n, X, ldx);
  const std::int64_t count = rows ? m : n;
  if (count == 0) return;
  require(sums != nullptr, "sum_up: sums is null");
  const unsigned blocks = static_cast<unsigned>(rows ? (m + row_group - 1) / row_group : n);
  launch("sum_up", rows ? sum_rows<T> : sum_columns<T>, {.grid = dim3(blocks), .block = dim3(sum_threads)},
         static_cast<cudaStream_t>(stream), Elements{m, n}, X, ldx, sums);
}

template <class T>
void copy(std::int64_t m, std::int64_t n, const T* X, std::int64_t ldx, T* Y, std::int64_t ldy, void* stream) {
  check_matrix("copy", "X", m, n, X, ldx);
  check_matrix("copy", "Y", m, n, Y, ldy);
  if (m == 0 || n == 0) return;
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  check(copy_lines(Y, bytes(ldy), X, bytes(ldx), bytes(m), static_cast<std::size_t>(n),
                   static_cast<cudaStream_t>(stream)),
        "copy");
}

VERNIER_REAL_INSTANCES(activate, relu_with_signs, gelu_gradient, sum_up, copy)

}  // namespace vernier::cuda
