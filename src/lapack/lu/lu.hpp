// LU with partial pivoting in the memory of a GPU, with no transfer to the host but that of info.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device.hpp"
#include "engine/panel.hpp"
#include "lapack/lu/block.hpp"
#include "product/device_memory.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

inline constexpr int device_padding = 128;  // rows and columns are multiples of this

// The shape of a matrix of the factorisation, and what is noted about its rows.
struct LuRows {
  LuRows(std::int64_t m, std::int64_t n, cudaStream_t stream);

  std::int64_t m, n, rows, columns;  // the latter padded
  DeviceWorkspace memory;
  void* mail;                        // of panels
  int *pivots, *permutation, *info;  // permutation[i]: the row of A that is row i now
  Exchanges exchanges;
  RowOrder orders[2];
};

// An m x n matrix, row by row, padded with zeros; a square one with ones on the diagonal. Then its factors.
template <class T>
struct DeviceLu : LuRows {
  DeviceLu(std::int64_t m, std::int64_t n, cudaStream_t stream);

  DeviceWorkspace matrix;
  RowMajor<T> a;
};

// The most rows that a matrix may have.
template <class T>
std::int64_t device_lu_limit();

// Queues the factorisation of what is in lu.a. Products keep `contract`; of float under plain contract fp32, products
// of split matrices run beside the panels.
template <class T>
void factor_on_device(DeviceLu<T>& lu, const Contract& contract, cudaStream_t stream);

// Whether factors of float have look-ahead: by products of Hopper.
inline bool looks_ahead(const Contract& contract) {
  return contract.kind == Contract::Kind::fp32 && !contract.reproducible && takes_hopper_kernels();
}

void factor_with_look_ahead(DeviceLu<float>& lu, cudaStream_t stream);  // those of float under plain contract fp32

void begin_rows(const LuRows& lu, cudaStream_t stream);  // nothing is exchanged, no pivot zero

// Waits. 0, or the column, counted from 1, whose pivot is exactly zero.
std::int64_t read_info(const LuRows& lu, cudaStream_t stream);

// Between column-major matrices and lu.a; the padding included on the way in.
template <class T>
void load_columns(DeviceLu<T>& lu, const T* A, std::int64_t lda, cudaStream_t stream);
template <class T>
void store_columns(const DeviceLu<T>& lu, T* A, std::int64_t lda, cudaStream_t stream);

// Pivots as LAPACK's, from lu and to it.
template <class T>
void store_pivots(const DeviceLu<T>& lu, std::int64_t* pivots, cudaStream_t stream);

}  // namespace vernier::cuda
