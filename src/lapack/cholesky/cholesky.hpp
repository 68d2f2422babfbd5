// Cholesky in the memory of a GPU, with no transfer to the host but that of info.
#pragma once

#include <cuda_runtime_api.h>

#include "lapack/lu/lu.hpp"
#include "vernier/cuda.hpp"
#include "vernier/level3.hpp"

namespace vernier::cuda {

// Row by row, as in DeviceLu, whose memory serves: A = U^T U with U in the upper triangle. Below the diagonal lies what
// was there, or nothing of meaning. info: the least column, counted from 1, whose leading minor is not positive.
// Products as in factor_on_device.
template <class T>
void factor_cholesky_on_device(DeviceLu<T>& a, const Contract& contract, cudaStream_t stream);

// The triangle of a column-major matrix into a, the padding included, and back.
template <class T>
void load_triangle(DeviceLu<T>& a, Uplo uplo, const T* A, std::int64_t lda, cudaStream_t stream);
template <class T>
void store_triangle(const DeviceLu<T>& a, Uplo uplo, T* A, std::int64_t lda, cudaStream_t stream);

// The whole of a symmetric matrix of which one triangle is given: n x n, dense.
template <class T>
void fill_symmetric(Uplo uplo, std::int64_t n, const T* A, std::int64_t lda, T* to, cudaStream_t stream);

}  // namespace vernier::cuda
