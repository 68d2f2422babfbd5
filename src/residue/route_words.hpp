// The words in device memory by which a product decides without the host: zeros before, an outcome of them after.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/status.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

inline void clear_route_words(const DeviceVectorBuffers& words, cudaStream_t stream) {
  const auto* end = reinterpret_cast<const std::byte*>(words.regularity + 1);
  const auto bytes = static_cast<std::size_t>(end - reinterpret_cast<const std::byte*>(words.route));
  check(cudaMemsetAsync(words.route, 0, bytes, stream), "route");  // and what lies behind it
}

// outcome: null, or where the route is left.
inline void leave_route(const DeviceVectorBuffers& words, Outcome* outcome, cudaStream_t stream) {
  static_assert(sizeof(DeviceRoute) <= sizeof(Outcome));
  if (outcome == nullptr) return;
  check(cudaMemcpyAsync(outcome, words.route, sizeof(DeviceRoute), cudaMemcpyDefault, stream), "outcome");
}

}  // namespace vernier::cuda
