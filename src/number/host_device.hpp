// Functions that are compiled for host and device alike.
#pragma once

#if defined(__CUDACC__)
#define VERNIER_HD __host__ __device__
#else
#define VERNIER_HD
#endif
#if defined(__CUDA_ARCH__)
#define VERNIER_UNROLL _Pragma("unroll")  // keeps small arrays in registers
#else
#define VERNIER_UNROLL
#endif
