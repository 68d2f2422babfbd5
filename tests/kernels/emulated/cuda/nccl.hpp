// Stands in for src/cuda/nccl.hpp: the other ranks' words are what the communicator points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime_api.h"

namespace vernier::cuda {

// static: the library has another one
static void sum_over_ranks(void* communicator, int, std::int64_t* words, std::size_t count, cudaStream_t) {
  const auto& others = *static_cast<const std::vector<std::int64_t>*>(communicator);
  for (std::size_t i = 0; i < count; ++i) words[i] += others[i];
}

}  // namespace vernier::cuda
