#pragma once

#include "cuda/ptx.cuh"

namespace vernier::cuda {

template <class T>
void copy_async_ahead(void* to, const T* from, bool exists) {
  copy_async(to, from, exists);
}

}  // namespace vernier::cuda
