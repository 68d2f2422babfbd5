// LU with partial pivoting in the memory of a GPU whose factors are stored in 16 bits: stored_lu.hpp's, left-looking.
//
// An fp32 buffer of 512 columns, two blocks, receives all updates by what is stored, is factorised as other LU on a GPU
// is, and is rounded once. Exchanges of rows reach back into what is stored. Products have stored numbers as factors
// and are added in fp32 by cuBLAS.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include "lapack/lu/lu.hpp"
#include "lapack/lu/stored_lu.hpp"
#include "lapack/solve/factors.hpp"
#include "lapack/solve/vectors.hpp"

namespace vernier::cuda {

// Of the words that numbers are stored in.
template <class Word>
struct StoredWord;

template <>
struct StoredWord<__half> {
  static constexpr cudaDataType_t blas_type = CUDA_R_16F;
  static constexpr double unit_roundoff = StoredFp16::unit_roundoff;
  static constexpr int headroom = half_headroom, last_headroom = half_headroom + half_headroom_step;  // for growth
};

template <>
struct StoredWord<__nv_bfloat16> {
  static constexpr cudaDataType_t blas_type = CUDA_R_16BF;
  static constexpr double unit_roundoff = StoredBf16::unit_roundoff;
  static constexpr int headroom = 0, last_headroom = 0;
};

// Word: __half or __nv_bfloat16. Waits. False: a number left the range of the format, and the factors are of no use. A
// pivot that rounding made zero is one for read_info, too.
template <class T, class Word>
bool factor_stored_on_device(const ScaledMatrix<T>& matrix, DeviceLu<Word>& lu, cudaStream_t stream);

}  // namespace vernier::cuda
