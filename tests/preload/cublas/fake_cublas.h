/* What the objects of the fake cuBLAS are, and the functions that the program calls. */
#ifndef FAKE_CUBLAS_H
#define FAKE_CUBLAS_H

#include <stddef.h>
#include <stdint.h>

struct fake_handle {
  void* stream;
  int pointer_mode, math_mode;
};
struct fake_layout {
  int type;
  int64_t rows, columns, ld;
  int32_t count;
  int64_t stride;
};
struct fake_product {
  int compute_type, scale_type, op_a, epilogue;
};

int cublasDgemm_v2(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
                   double*, int);
int cublasDgemm_v2_64(void*, int, int, int64_t, int64_t, int64_t, const double*, const double*, int64_t, const double*,
                      int64_t, const double*, double*, int64_t);
int cublasDgemmStridedBatched(void*, int, int, int, int, int, const double*, const double*, int, long long,
                              const double*, int, long long, const double*, double*, int, long long, int);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
                 void*, int, int, int, int);
int cublasDtrsm_v2(void*, int, int, int, int, int, int, const double*, const double*, int, double*, int);
int cublasDsyrk_v2(void*, int, int, int, int, const double*, const double*, int, const double*, double*, int);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                   void*, void*, const void*, void*, size_t, void*);

#endif
