// Every instance of the factorisations of quad.hpp: on CPUs, on a GPU, without CUDA.
#pragma once

#define VERNIER_QUAD_FACTORS(T)                                                                                      \
  template void quad_syrk(Uplo, Op, std::int64_t, std::int64_t, double, const T*, std::int64_t, double, T*,          \
                          std::int64_t, const QuadOptions&);                                                         \
  template void quad_trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, double, const T*, std::int64_t, T*,      \
                          std::int64_t, const QuadOptions&);                                                         \
  template std::int64_t quad_getrf(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, const QuadOptions&); \
  template std::int64_t quad_potrf(Uplo, std::int64_t, T*, std::int64_t, const QuadOptions&);                        \
  template std::int64_t quad_gesv(std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t,     \
                                  const QuadOptions&);
