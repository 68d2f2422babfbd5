// C = alpha T + beta C, or beta C, on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "product/scalars.hpp"
#include "vernier/rounding.hpp"

namespace vernier::cuda {

struct Elements {
  std::int64_t rows, columns;
  Gate gate = {};  // closed: nothing is done
};

// C = alpha T + beta C.
template <class T>
void update_on_device(const Elements& size, const DeviceFactor<T>& alpha, const T* t, std::int64_t ldt,
                      const DeviceFactor<T>& beta, T* c, std::int64_t ldc, cudaStream_t stream);

// C = beta C; 0 if beta = 0.
template <class T>
void scale_on_device(std::int64_t m, std::int64_t n, const DeviceFactor<T>& beta, T* c, std::int64_t ldc,
                     Rounding rounding, cudaStream_t stream);

// C of products whose factors are in device memory.
template <class T>
struct FactoredC {
  std::int64_t m, n, ld;
  T* c;
  const T *alpha, *beta;
  std::int64_t count = 1, stride = 0;
  T* const* addresses = nullptr;  // in device memory, in place of c and stride
};

// Where alpha is 0: before a product beta C goes to `kept`, m n count elements, behind it from there to C. cuBLAS
// multiplies what it finds in A and B by an alpha of 0 that it does not know of; and C by a beta of -0: C is cleared.
template <class T>
void keep_where_alpha_is_zero(const FactoredC<T>& x, T* kept, bool behind, cudaStream_t stream);

}  // namespace vernier::cuda
