// Every instance of quad_gemm: on CPUs, on a GPU, without CUDA.
#pragma once

#define VERNIER_INSTANTIATE_PRODUCT(TA, TB, TC)                                                                    \
  template QuadReport quad_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const TA*, std::int64_t, \
                                const TB*, std::int64_t, double, TC*, std::int64_t, const QuadOptions&);
#define VERNIER_INSTANTIATE_QUAD_GEMM()                                               \
  VERNIER_INSTANTIATE_PRODUCT(double, double, dd)                                     \
  VERNIER_INSTANTIATE_PRODUCT(dd, double, dd)                                         \
  VERNIER_INSTANTIATE_PRODUCT(double, dd, dd)                                         \
  VERNIER_INSTANTIATE_PRODUCT(dd, dd, dd)                                             \
  VERNIER_INSTANTIATE_PRODUCT(std::complex<double>, std::complex<double>, complex_dd) \
  VERNIER_INSTANTIATE_PRODUCT(complex_dd, complex_dd, complex_dd)
#define VERNIER_INSTANTIATE_BINARY128_GEMM()                                                 \
  VERNIER_INSTANTIATE_PRODUCT(double, double, binary128)                                     \
  VERNIER_INSTANTIATE_PRODUCT(binary128, double, binary128)                                  \
  VERNIER_INSTANTIATE_PRODUCT(double, binary128, binary128)                                  \
  VERNIER_INSTANTIATE_PRODUCT(binary128, binary128, binary128)                               \
  VERNIER_INSTANTIATE_PRODUCT(std::complex<double>, std::complex<double>, complex_binary128) \
  VERNIER_INSTANTIATE_PRODUCT(complex_binary128, complex_binary128, complex_binary128)
