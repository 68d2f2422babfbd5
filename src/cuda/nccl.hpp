// Sums of integers over GPUs by NCCL, found at run time: whoever has a communicator has loaded it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace vernier::cuda {

// words := their sums over all ranks of a ncclComm_t, in place and on the stream; each rank calls it with as many.
// Throws Error: more ranks than `most`, before anything is sent; unsupported where there is no NCCL.
void sum_over_ranks(void* communicator, int most, std::int64_t* words, std::size_t count, cudaStream_t stream);

}  // namespace vernier::cuda
