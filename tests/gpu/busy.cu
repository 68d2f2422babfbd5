#include "busy.hpp"
#include "cuda/status.hpp"

namespace vernier::test {
namespace {

constexpr int whole_shared_memory = 227 * 1024;

__device__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void wait(unsigned long long duration) {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < duration) continue;
}

}  // namespace

void occupy(int blocks, double milliseconds, cudaStream_t stream) {
  cuda::check(cudaFuncSetAttribute(wait, cudaFuncAttributeMaxDynamicSharedMemorySize, whole_shared_memory), "occupy");
  wait<<<static_cast<unsigned>(blocks), 32, whole_shared_memory, stream>>>(
      static_cast<unsigned long long>(milliseconds * 1e6));
  cuda::check(cudaGetLastError(), "occupy");
}

}  // namespace vernier::test
