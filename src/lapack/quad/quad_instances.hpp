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
#if defined(__SIZEOF_FLOAT128__)
#define VERNIER_ALL_QUAD_FACTORS() VERNIER_QUAD_FACTORS(dd) VERNIER_QUAD_FACTORS(binary128)
#else
#define VERNIER_ALL_QUAD_FACTORS() VERNIER_QUAD_FACTORS(dd)
#endif

// The factorisations of quad.hpp of a place, in its namespace, with every instance.
#define VERNIER_DEFINE_QUAD_FACTORS(Place)                                                                         \
  template <class T>                                                                                               \
  void quad_syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const T* A, std::int64_t lda,     \
                 double beta, T* C, std::int64_t ldc, const QuadOptions& options) {                                \
    call_syrk(Place<T>(options), uplo,                                                                             \
              {op, op == Op::none ? Op::transpose : Op::none, n, n, k, alpha, A, lda, A, lda, beta, C, ldc});      \
  }                                                                                                                \
  template <class T>                                                                                               \
  void quad_trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, double alpha, const T* A, \
                 std::int64_t lda, T* B, std::int64_t ldb, const QuadOptions& options) {                           \
    call_trsm(Place<T>(options), {side, uplo, op, diag, alpha, A, lda, {m, n, B, ldb}});                           \
  }                                                                                                                \
  template <class T>                                                                                               \
  std::int64_t quad_getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int64_t* pivots,            \
                          const QuadOptions& options) {                                                            \
    return call_getrf(Place<T>(options), {m, n, A, lda}, pivots);                                                  \
  }                                                                                                                \
  template <class T>                                                                                               \
  std::int64_t quad_potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda, const QuadOptions& options) {         \
    return call_potrf(Place<T>(options), uplo, {n, n, A, lda});                                                    \
  }                                                                                                                \
  template <class T>                                                                                               \
  std::int64_t quad_gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, std::int64_t* pivots, T* B,    \
                         std::int64_t ldb, const QuadOptions& options) {                                           \
    return call_gesv(Place<T>(options), {n, n, A, lda}, pivots, {n, nrhs, B, ldb});                                \
  }                                                                                                                \
  VERNIER_ALL_QUAD_FACTORS()
