// Every instance of cuda::quad_gemm, with CUDA and without.
#pragma once

#define VERNIER_INSTANTIATE_PAIR(TA, TB)                                                                           \
  template QuadReport quad_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const TA*, std::int64_t, \
                                const TB*, std::int64_t, double, dd*, std::int64_t, const QuadOptions&);
#define VERNIER_INSTANTIATE_QUAD_GEMM()    \
  VERNIER_INSTANTIATE_PAIR(double, double) \
  VERNIER_INSTANTIATE_PAIR(dd, double)     \
  VERNIER_INSTANTIATE_PAIR(double, dd)     \
  VERNIER_INSTANTIATE_PAIR(dd, dd)
