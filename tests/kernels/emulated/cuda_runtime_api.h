// What headers of kernels need of the CUDA runtime when they are compiled for the host.
#pragma once

using cudaStream_t = void*;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct ulonglong2 {
  unsigned long long x, y;
};
