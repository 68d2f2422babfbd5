#include "gpu/stray.hpp"

namespace vernier::test {
namespace {

__global__ void write_to(int* address) { *address = 1; }

}  // namespace

void run_stray_kernel() {
  write_to<<<1, 1>>>(reinterpret_cast<int*>(8));
  (void)cudaDeviceSynchronize();
}

}  // namespace vernier::test
