// LU with partial pivoting in the memory of a GPU whose factors are stored in fp16: stored_lu.hpp's, left-looking.
//
// An fp32 buffer of 512 columns, two blocks, receives all updates by what is stored, is factorised as other LU on a GPU
// is, and is rounded once. Exchanges of rows reach back into what is stored. Products have fp16 numbers as factors and
// are added in fp32 by cuBLAS.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "lapack/device_lu.hpp"
#include "lapack/device_vectors.hpp"

namespace vernier {

// What is factorised: row_factors[i] a_ij column_factors[j], factors in device memory.
template <class T>
struct ScaledMatrix {
  DeviceMatrix<T> a;
  const double *row_factors, *column_factors;
};

// Waits. False: a number left the range of fp16, and the factors are of no use. A pivot that rounding made zero is one
// for read_info, too.
template <class T>
bool factor_stored_on_device(const ScaledMatrix<T>& matrix, DeviceLu<__half>& lu, cudaStream_t stream);

}  // namespace vernier
