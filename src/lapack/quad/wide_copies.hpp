// Matrices of 16-byte elements, dd or binary128, in device memory: dd of any hi and lo normalised, transposes, and dd
// from two arrays and back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lapack/quad/quad_arrays.hpp"
#include "lapack/quad/row_swaps.hpp"

namespace vernier::cuda {

// Rows from slope j on of each column j.
void normalise_dd_on_device(std::int64_t rows, const WideColumns& m, std::int64_t slope, cudaStream_t stream);
// to(j, i) = from(i, j), of `rows` rows; lower: for i >= j alone.
void transpose_wide_on_device(std::int64_t rows, const WideColumns& from, const WideColumns& to, bool lower,
                              cudaStream_t stream);
// dd without gaps.
void pack_dd_on_device(const ConstDdArrays& x, const ArraysShape& shape, dd* to, cudaStream_t stream);
void unpack_dd_on_device(const dd* from, const ArraysShape& shape, const DdArrays& x, cudaStream_t stream);

}  // namespace vernier::cuda
