// Kernels that read a matrix once: its figures, products with vectors, conversions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lapack/lu/panel.hpp"

namespace vernier::cuda {

// Column-major.
template <class T>
struct DeviceMatrix {
  const T* data = nullptr;
  std::int64_t n = 0, ld = 0;
};

// row_factors[i] a_ij column_factors[j], factors in device memory.
template <class T>
struct ScaledMatrix {
  DeviceMatrix<T> a;
  const double *row_factors, *column_factors;
};

inline constexpr int figure_tile = 64;

// Of tiles of 64 x 64, tile after tile along the other direction: element t * n + i belongs to row (column) i.
struct TileFigures {
  double *row_largest, *row_sum, *column_largest, *column_sum;
};

// Magnitudes of A; A rounded to float into `floats`, if that is not null, with ones on the diagonal of the padding.
template <class T>
void take_tile_figures(const DeviceMatrix<T>& a, const TileFigures& figures, RowMajor<float> floats,
                       std::int64_t padded, cudaStream_t stream);

// joined: of every row the largest magnitude, n of them, then of every row the sum, and the same of columns.
void join_figures(const TileFigures& figures, std::int64_t n, std::int64_t parts, double* joined, cudaStream_t stream);

// to = 2^exponent a, dense.
void scale_matrix(const DeviceMatrix<double>& a, int exponent, double* to, cudaStream_t stream);

// The largest |factors[i] a_ij| of every column.
template <class T>
void scaled_column_largest(const DeviceMatrix<T>& a, const double* factors, double* largest, cudaStream_t stream);

// Row by row, with ones on the diagonal of the padding.
template <class T, class S>
void convert_scaled(const ScaledMatrix<T>& matrix, const RowMajor<S>& to, std::int64_t padded, cudaStream_t stream);

// r = b - op(A) x in twice the precision of double, rounded once. work: residual_work(n) doubles.
template <class T>
void residual(const DeviceMatrix<T>& a, bool transposed, const double* x, const double* b, double* r, double* work,
              cudaStream_t stream);
std::int64_t residual_work(std::int64_t n);

// y = |op(A)| |x|
template <class T>
void magnitudes(const DeviceMatrix<T>& a, bool transposed, const double* x, double* y, double* work,
                cudaStream_t stream);

// x += factor d, in two roundings
void add_scaled(std::int64_t n, double factor, const double* d, double* x, cudaStream_t stream);

// out[i] = in[permutation[i]] for i < n, and zeros up to `padded`, for `count` vectors; or the way back.
void permute(const int* permutation, std::int64_t n, std::int64_t padded, std::int64_t count, const double* in,
             double* out, bool back, cudaStream_t stream);

// `count` vectors of n numbers of T, ld apart, to and from vectors of double with zeros up to `padded`, which are as
// far apart.
template <class T>
void widen_vectors(const T* from, std::int64_t ld, std::int64_t n, std::int64_t padded, std::int64_t count, double* to,
                   cudaStream_t stream);
template <class T>
void narrow_vectors(const double* from, std::int64_t n, std::int64_t padded, std::int64_t count, T* to, std::int64_t ld,
                    cudaStream_t stream);

}  // namespace vernier::cuda
