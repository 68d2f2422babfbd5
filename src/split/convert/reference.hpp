// Parts of a matrix by the generic rule, word by word, on a GPU: for schemes without kernels of their own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "split/plane.hpp"
#include "split/split.hpp"

namespace vernier::cuda {

// Part p of vector v goes to word (p * count + v) * padded_k, zeros beyond k; words have 2 bytes, tf32 4. unscale: null
// to leave the elements as they are.
void split_reference(const SplitRule& rule, const FloatVectors& x, std::int64_t padded_k, void* words,
                     std::int32_t* unscale, cudaStream_t stream);

}  // namespace vernier::cuda
