/* What the objects of the fake cuBLAS are, and the functions that the program calls. */
#ifndef FAKE_CUBLAS_H
#define FAKE_CUBLAS_H

#include <stddef.h>
#include <stdint.h>

struct fake_handle {
  void* stream;
  int pointer_mode, math_mode; /* and 256 times the version of the cuBLAS that made it; 0: any */
};
struct fake_complex {
  double re, im;
} __attribute__((aligned(16)));
extern int fake_questions; /* about layouts and products */
struct fake_layout {
  int type;
  int64_t rows, columns, ld;
  int32_t count;
  int64_t stride;
  int32_t order;
} __attribute__((aligned(64))); /* as cublasLtMatrixLayoutOpaque_t is 64 bytes */
struct fake_product {
  int compute_type, scale_type, op_a, epilogue;
  void *bias, *auxiliary;
  int64_t ld_auxiliary;
};

int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
                   float*, int);
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
int cublasDsyrkx(void*, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
                 double*, int);
int cublasZherkx(void*, int, int, int, int, const void*, const void*, int, const void*, int, const double*, void*, int);
int cublasCsyrkEx(void*, int, int, int, int, const void*, const void*, int, int, const void*, void*, int, int);
int cublasDtrsmBatched(void*, int, int, int, int, int, int, const double*, const double* const*, int, double* const*,
                       int, int);
int cublasHgemm(void*, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*,
                int);
int cublasDgemmGroupedBatched(void*, const int*, const int*, const int*, const int*, const int*, const double*,
                              const double* const*, const int*, const double* const*, const int*, const double*,
                              double* const*, const int*, int, const int*);
int cublasXtDgemm(void*, int, int, size_t, size_t, size_t, const double*, const double*, size_t, const double*, size_t,
                  const double*, double*, size_t);
void cublasDgemm(char, char, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void cublasZgemm(char, char, int, int, int, struct fake_complex, const void*, int, const void*, int,
                 struct fake_complex, void*, int);
void cublasZtrsm(char, char, char, char, int, int, struct fake_complex, const void*, int, void*, int);
int cublasSetKernelStream(void*);
int cublasSetWorkspace_v2(void*, void*, size_t);
int cublasSetStream_v2(void*, void*);
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasLtCreate(void**);
int cublasLtDestroy(void*);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                   void*, void*, const void*, void*, size_t, void*);

#endif
